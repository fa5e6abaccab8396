// One kernel in tile form → one LLVM function with the kernel signature.
//
//   entry:  arguments, descriptors' constant parts
//   loop over programs q:           ahead(q)   what only engines do: loads, contractions, drains, stores of those
//                                   behind(p)  the rest, of the program before: vector code, and what depends on it
//   exit:   wait for every queue
//
// A kernel is emitted twice. The first time finds out which buffers there are, how long each is in use and which
// queues' commands touch it; then they get their offsets; the second time is for good.
#pragma once
#include "compiler/dialect/Dg.h"
#include "compiler/npu/Buffers.h"
#include "compiler/npu/Contraction.h"
#include "compiler/npu/Elementwise.h"
#include "compiler/npu/Epilogue.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include <map>

namespace dougong::npu {

// How far engines run ahead; each step down needs less memory.
struct Overlap {
  bool ahead = true;   // engines work on the next program while the vector unit works on this one
  int slots = 2;       // of buffers that a loop's commands fill
  int resultSlots = 2; // of buffers that vector code fills and stores empty
  int accumulatorSlots = 2;
};

// What the two emissions share.
struct Layout {
  Overlap overlap;
  int together = 8; // vectors at once (npu.h)
  Buffers buffers;
  std::map<std::pair<const void *, int>, Buffer *> byRole; // of an operation (or block), and which of its buffers
  bool measured = false;
};

// Memory that holds a tile, or a part of one.
struct Tile {
  Buffer *buffer = nullptr;
  llvm::Value *offset = nullptr;             // bytes within the slot
  llvm::SmallVector<int64_t> shape, strides; // strides in bytes
  mlir::Type element;

  bool isDense() const;
};

int64_t elementBytes(mlir::Type type);

class KernelEmitter {
public:
  KernelEmitter(mlir::func::FuncOp function, const Machine &machine, llvm::Module &module, Layout &layout);
  mlir::LogicalResult run();

private:
  enum Access { Read = 0, Write = 1 };
  // Who fills a buffer decides its slots: commands; vector code, to be stored; or code that needs no overlap.
  enum class Filled { ByCommand, ToBeStored, InPlace };
  static constexpr int core = -1; // as a queue: the core itself

  // One copy's dimension: how often, and how far source and destination move. Without bounds everything is copied.
  struct CopyDimension {
    llvm::Value *count;
    llvm::Value *sourceStride, *targetStride;
    llvm::Value *low = nullptr, *high = nullptr;
  };
  struct Descriptor {
    llvm::AllocaInst *memory;
  };

  // EmitKernel.cpp: the function around the body, buffers, tickets.
  mlir::LogicalResult checkTypes();
  void declareInstructions();
  void findBases();
  bool split(mlir::Block &block);
  bool isFree(mlir::Operation *op);
  bool isCommand(mlir::Operation *op);
  bool dependsOnAhead(mlir::Operation *op, mlir::Block &block);
  bool evolvesFreely(mlir::BlockArgument argument);
  mlir::LogicalResult emitPrograms();
  mlir::LogicalResult emitSection(llvm::Value *program, bool ahead);
  Buffer *buffer(const void *key, int role, mlir::Location where, const llvm::Twine &what, int64_t bytes, bool accumulators, Filled filled);
  void touch(Buffer *buffer);
  int lag(const Buffer *buffer) const;
  llvm::AllocaInst *variable(llvm::Type *type, llvm::Value *initial);
  llvm::AllocaInst *ticket(Buffer *buffer, Access access, int queue, int age);
  void nextSlots(mlir::Operation *loop);
  llvm::AllocaInst *keptSlot(Buffer *buffer, int age);
  llvm::Value *slotOffset(Buffer *buffer);
  void waitFor(int waiter, int queue, llvm::AllocaInst *ticket);
  void beforeAccess(int queue, Buffer *buffer, Access access);
  void afterCommand(int queue, llvm::Value *ticket, llvm::ArrayRef<Buffer *> reads, llvm::ArrayRef<Buffer *> writes);
  void waitForStores(int queue, mlir::Value base, bool forWriting);
  void forgetWaits() { satisfied.clear(); }
  llvm::Value *address(const Tile &tile); // i64
  Tile newTile(const void *key, int role, mlir::Location where, mlir::RankedTensorType type, const llvm::Twine &what, Filled filled,
               bool accumulators = false);

  // EmitControl.cpp: scalars and loops.
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitOperation(mlir::Operation *op);
  mlir::LogicalResult emitFor(mlir::scf::ForOp loop);
  mlir::LogicalResult emitForAhead(mlir::scf::ForOp loop, llvm::ArrayRef<std::optional<Tile>> homes);
  mlir::LogicalResult emitIf(mlir::scf::IfOp branch);
  mlir::LogicalResult emitWhile(mlir::scf::WhileOp loop);
  mlir::LogicalResult moveTo(const Tile &home, mlir::Value value, mlir::Operation *user);
  mlir::LogicalResult emitHomes(mlir::Operation *op, mlir::ValueRange initial, mlir::ValueRange inside,
                                llvm::SmallVectorImpl<std::optional<Tile>> &homes);
  bool canOverwrite(mlir::scf::ForOp loop, unsigned index);
  mlir::LogicalResult emitYield(mlir::ValueRange yielded, llvm::ArrayRef<std::optional<Tile>> homes, mlir::Operation *user);
  bool carriesAccumulators(mlir::scf::ForOp loop, unsigned index);
  llvm::Value *scalar(mlir::Value value);
  void countedLoop(llvm::Value *from, llvm::Value *to, llvm::Value *step, llvm::function_ref<void(llvm::Value *)> body,
                   bool mayUnroll = true);

  // EmitCommands.cpp: descriptors, copies.
  Descriptor descriptor(size_t bytes);
  void set(const Descriptor &descriptor, size_t offset, llvm::Value *value);
  void set(const Descriptor &descriptor, size_t offset, uint64_t value, int bits);
  llvm::Value *issueDma(int queue, llvm::Value *source, llvm::Value *target, llvm::ArrayRef<CopyDimension> dimensions, int64_t bytes,
                        llvm::Value *fill);
  mlir::LogicalResult emitLoad(dg::LoadOp load);
  mlir::LogicalResult emitStore(dg::StoreOp store);
  llvm::Value *fillBits(llvm::Value *fill, int64_t bytes);
  void copyTile(const Tile &target, const Tile &source);
  void fillTile(const Tile &tile, llvm::Value *value);
  bool isStored(mlir::Value value);
  int loadQueue(mlir::Operation *op) const;
  int storeQueue(mlir::Operation *op) const;

  // EmitContraction.cpp: the tensor engine and the drain.
  void zeroAccumulators(const Tile &tile);
  mlir::LogicalResult emitContraction(mlir::linalg::LinalgOp op);
  mlir::LogicalResult emitDrain(mlir::linalg::LinalgOp op, const Epilogue &epilogue);
  void drainPlainly(mlir::Value value, mlir::Operation *definition);
  void drain(const Tile &accumulators, const Tile &out, const Epilogue &epilogue, const Tile *scale, const Tile *bias,
             const Tile *residual);
  bool isHeldInAccumulators(mlir::Value value);

  // EmitTiles.cpp: operations that only move data.
  std::optional<Tile> tileOf(mlir::Value value, mlir::Operation *user);
  std::optional<Tile> denseTileOf(mlir::Value value, mlir::Operation *user);
  mlir::LogicalResult emitExtractSlice(mlir::tensor::ExtractSliceOp op);
  mlir::LogicalResult emitInsertSlice(mlir::tensor::InsertSliceOp op);
  mlir::LogicalResult emitReshape(mlir::Operation *op);
  mlir::LogicalResult emitPad(mlir::tensor::PadOp op);
  bool isCopy(mlir::linalg::LinalgOp op);
  mlir::LogicalResult emitCopy(mlir::linalg::LinalgOp op);
  mlir::LogicalResult emitFromElements(mlir::tensor::FromElementsOp op);
  mlir::LogicalResult emitConstantTile(mlir::Operation *op, mlir::DenseElementsAttr elements);
  Tile part(const Tile &whole, llvm::ArrayRef<mlir::OpFoldResult> offsets, llvm::ArrayRef<int64_t> sizes,
            llvm::ArrayRef<mlir::OpFoldResult> strides);

  // EmitElements.cpp: elements of global memory, one by one.
  struct ElementOperand {
    mlir::Value value;        // null: none
    std::optional<Tile> tile; // none: a splat
  };
  mlir::LogicalResult prepare(ElementOperand &operand, mlir::Operation *user);
  llvm::Value *element(const ElementOperand &operand, llvm::ArrayRef<llvm::Value *> at);
  llvm::Value *globalElement(mlir::Value base, llvm::Value *offset, mlir::Type element);
  mlir::LogicalResult emitGather(dg::GatherOp op);
  mlir::LogicalResult emitScatter(dg::ScatterOp op);
  mlir::LogicalResult emitAtomic(dg::AtomicOp op);
  llvm::Value *changeElement(dg::AtomicOp op, llvm::Value *at, llvm::Value *value, llvm::Value *expected);
  llvm::Value *loadElement(llvm::Value *pointer, mlir::Type element);
  llvm::Value *elementAddress(const Tile &tile, llvm::ArrayRef<llvm::Value *> indices);
  void storeElement(llvm::Value *pointer, llvm::Value *value, mlir::Type element);
  void forEachElement(const Tile &like, llvm::function_ref<void(llvm::ArrayRef<llvm::Value *>)> body);

  // VectorCode.h: all other linalg operations.
  mlir::LogicalResult emitVectorCode(mlir::linalg::LinalgOp op);
  friend class VectorCode;

  llvm::Value *i32(int64_t value) { return builder.getInt32(uint32_t(value)); }
  llvm::Value *i64(int64_t value) { return builder.getInt64(uint64_t(value)); }

  mlir::func::FuncOp source;
  const Machine &machine;
  llvm::Module &module;
  llvm::LLVMContext &context;
  Layout &layout;
  llvm::Function *function = nullptr;
  llvm::IRBuilder<> builder; // where code goes
  llvm::IRBuilder<> entry;   // the entry block, run once
  llvm::FunctionCallee tensorCommand, drainCommand, dmaCommand, queueWait, coreWait;
  llvm::Value *launch = nullptr, *grid[3] = {}, *programIds[3] = {}, *iteration = nullptr;

  llvm::DenseMap<mlir::Value, llvm::Value *> scalars; // and splat tiles, by their one element
  llvm::DenseMap<mlir::Value, Tile> tiles;            // in LM
  llvm::DenseMap<mlir::Value, Tile> accumulators;     // in ACC
  llvm::DenseMap<mlir::Value, Tile> wanted;           // where a value is best computed: its loop's home
  llvm::DenseMap<mlir::Operation *, llvm::AllocaInst *> loopCounts;
  llvm::DenseMap<mlir::Operation *, int> position, lastPosition;
  llvm::DenseSet<mlir::Operation *> aheadOps;
  llvm::DenseSet<mlir::Value> storedBases, loadedBases;
  llvm::DenseSet<std::pair<int, llvm::AllocaInst *>> satisfied; // waits that hold already, by waiter
  llvm::AllocaInst *lastTicket[DG_QUEUES] = {};
  llvm::SmallVector<mlir::Operation *> loops; // around the code being emitted
  mlir::Operation *current = nullptr;
  enum Section { Whole = 0, Ahead, Behind };
  llvm::DenseMap<mlir::Operation *, Section> sections; // of a loop (null: over programs), which part is being emitted
  bool hasAhead = false;
};

} // namespace dougong::npu
