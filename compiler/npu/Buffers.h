// On-chip buffers of a kernel: what they hold, how long, and where they lie.
//
// A buffer has one or more slots. In each iteration of its loop (the loop over programs, or a loop inside the kernel)
// the next slot is the current one, so that commands fill one while the others are still read.
#pragma once
#include "compiler/kernel.h"
#include "isa/commands.h"
#include "machines/machine.h"
#include "mlir/IR/Operation.h"
#include <memory>
#include <vector>

namespace llvm {
class AllocaInst;
}

namespace dougong::npu {

inline constexpr int maximumSlots = 2;

struct Buffer {
  std::string what;
  mlir::Location where;
  bool accumulators = false; // in ACC, else in LM
  int64_t bytes = 0;         // of one slot
  int slots = 1;
  mlir::Operation *loop = nullptr; // the loop whose iterations take the next slot; null: the loop over programs
  bool ahead = false;              // filled one program before the code that reads it
  bool kept = false;               // filled only when what it holds changes; the slot moves on only then
  bool alone = false;              // shares its memory with no other buffer

  // Places in the kernel's order of operations between which it is in use.
  int begin = 0, end = 0;
  int64_t offset = 0;

  // Which queues' commands read [0] or write [1] it, a bit each: found by emitting the kernel once without offsets.
  unsigned queues[2] = {};

  // Of the emission at hand: the tickets of the last commands by [read/write][queue][how many iterations ago, the last
  // entry: of the slot that comes next], and for a kept buffer the current and the previous slot.
  llvm::AllocaInst *tickets[2][DG_QUEUES][maximumSlots + 1] = {};
  llvm::AllocaInst *slot[2] = {};

  bool overlaps(const Buffer &other) const {
    return accumulators == other.accumulators && offset < other.offset + other.bytes * other.slots && other.offset < offset + bytes * slots;
  }
};

using Buffers = std::vector<std::unique_ptr<Buffer>>;

// Offsets for all. Two buffers share memory only if no place in the kernel uses both. The result is how many bytes beyond
// the capacity LM and ACC would be needed, at most; 0 is success.
int64_t assignOffsets(Buffers &buffers, int64_t localBytes, int64_t accumulatorBytes);

// What lies in LM (or ACC) at the place where most is needed, largest first.
std::vector<LocalBuffer> peakBuffers(const Buffers &buffers, bool accumulators);

std::string describeLocation(mlir::Location location);

} // namespace dougong::npu
