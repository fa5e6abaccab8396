// Offsets by live ranges: largest first, each into the lowest gap that fits.
#include "compiler/npu/Buffers.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace dougong::npu {
namespace {

bool liveTogether(const Buffer &a, const Buffer &b) { return a.alone || b.alone || (a.begin <= b.end && b.begin <= a.end); }

int64_t place(std::vector<Buffer *> buffers) {
  llvm::stable_sort(buffers, [](Buffer *a, Buffer *b) { return a->bytes * a->slots > b->bytes * b->slots; });
  std::vector<Buffer *> placed;
  int64_t top = 0;
  for (Buffer *buffer : buffers) {
    std::vector<Buffer *> conflicts;
    llvm::copy_if(placed, std::back_inserter(conflicts), [&](Buffer *other) { return liveTogether(*buffer, *other); });
    llvm::sort(conflicts, [](Buffer *a, Buffer *b) { return a->offset < b->offset; });
    int64_t size = buffer->bytes * buffer->slots, offset = 0;
    for (Buffer *other : conflicts) {
      if (offset + size <= other->offset)
        break;
      offset = std::max(offset, other->offset + other->bytes * other->slots);
    }
    buffer->offset = offset;
    top = std::max(top, offset + size);
    placed.push_back(buffer);
  }
  return top;
}

std::vector<Buffer *> of(const Buffers &buffers, bool accumulators) {
  std::vector<Buffer *> result;
  for (const auto &buffer : buffers)
    if (buffer->accumulators == accumulators)
      result.push_back(buffer.get());
  return result;
}

} // namespace

int64_t assignOffsets(Buffers &buffers, int64_t localBytes, int64_t accumulatorBytes) {
  int64_t local = place(of(buffers, false)) - localBytes, accumulators = place(of(buffers, true)) - accumulatorBytes;
  return std::max<int64_t>({0, local, accumulators});
}

std::vector<LocalBuffer> peakBuffers(const Buffers &buffers, bool accumulators) {
  std::vector<Buffer *> candidates = of(buffers, accumulators);
  int64_t most = -1;
  std::vector<Buffer *> peak;
  for (Buffer *moment : candidates) {
    int64_t bytes = 0;
    std::vector<Buffer *> live;
    for (Buffer *other : candidates)
      if (other->alone || (other->begin <= moment->begin && moment->begin <= other->end)) {
        bytes += other->bytes * other->slots;
        live.push_back(other);
      }
    if (bytes > most) {
      most = bytes;
      peak = live;
    }
  }
  llvm::stable_sort(peak, [](Buffer *a, Buffer *b) { return a->bytes * a->slots > b->bytes * b->slots; });
  std::vector<LocalBuffer> result;
  for (Buffer *buffer : peak) {
    std::string what = buffer->what;
    if (buffer->slots > 1)
      what += ", " + std::to_string(buffer->slots) + " slots";
    result.push_back({what, describeLocation(buffer->where), buffer->bytes * buffer->slots});
  }
  return result;
}

std::string describeLocation(Location location) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto file = location->findInstanceOf<FileLineColLoc>())
    stream << file.getFilename().getValue() << ':' << file.getLine();
  else if (auto name = location->findInstanceOf<NameLoc>())
    stream << name.getName().getValue();
  else
    stream << location;
  return text;
}

} // namespace dougong::npu
