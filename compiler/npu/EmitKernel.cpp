// The function around a kernel's body: the loop over programs in its two sections, buffers and their tickets.
#include "compiler/npu/KernelEmitter.h"
#include "isa/machine_layout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace dougong::npu {

bool Tile::isDense() const {
  int64_t stride = elementBytes(element);
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
    if (shape[d] != 1 && strides[d] != stride)
      return false;
  return true;
}

int64_t elementBytes(Type type) { return type.isIndex() ? 8 : std::max(1u, (type.getIntOrFloatBitWidth() + 7) / 8); }

KernelEmitter::KernelEmitter(func::FuncOp source, const Machine &machine, llvm::Module &module, Layout &layout)
    : source(source), machine(machine), module(module), context(module.getContext()), layout(layout), builder(context), entry(context) {}

void KernelEmitter::declareInstructions() {
  llvm::Type *i64 = builder.getInt64Ty(), *i32 = builder.getInt32Ty(), *ptr = builder.getPtrTy(), *none = builder.getVoidTy();
  tensorCommand = module.getOrInsertFunction("__dg_tensor", i64, ptr);
  drainCommand = module.getOrInsertFunction("__dg_drain", i64, ptr);
  dmaCommand = module.getOrInsertFunction("__dg_dma", i64, i32, ptr);
  queueWait = module.getOrInsertFunction("__dg_qwait", none, i32, i32, i64);
  coreWait = module.getOrInsertFunction("__dg_await", none, i32, i64);
}

//===-- Sections ----------------------------------------------------------===//

// What costs nothing to say again in the other section: scalars, and names for parts of tiles.
bool KernelEmitter::isFree(Operation *op) {
  if (isa<linalg::FillOp, tensor::EmptyOp, tensor::SplatOp, tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
          tensor::CastOp, tensor::DimOp>(op))
    return true;
  if (auto elements = dyn_cast<tensor::FromElementsOp>(op))
    return elements.getElements().size() == 1;
  if (isa<arith::ConstantOp>(op))
    return !isa<ShapedType>(op->getResult(0).getType()) || cast<DenseElementsAttr>(cast<arith::ConstantOp>(op).getValue()).isSplat();
  bool scalars =
      llvm::none_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>) && llvm::none_of(op->getResultTypes(), llvm::IsaPred<ShapedType>);
  return scalars && op->getNumRegions() == 0 && isMemoryEffectFree(op) && !op->hasTrait<OpTrait::IsTerminator>();
}

// What engines do alone.
bool KernelEmitter::isCommand(Operation *op) {
  if (auto load = dyn_cast<dg::LoadOp>(op))
    return !storedBases.contains(load.getBase());
  if (isa<dg::StoreOp, tensor::PadOp, tensor::InsertSliceOp, arith::ConstantOp>(op))
    return true;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return matchContraction(linalgOp) || matchEpilogue(linalgOp, [&](Value v) { return isHeldInAccumulators(v); }) || isCopy(linalgOp);
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return false;
  for (unsigned index = 0; index < loop.getNumResults(); ++index)
    if (!isa<ShapedType>(loop.getResult(index).getType()) || !carriesAccumulators(loop, index))
      return false;
  return llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &inner) { return isFree(&inner) || isCommand(&inner); });
}

// A scalar that a loop carries and that the engines' part can follow by itself, such as an address that moves on.
bool KernelEmitter::evolvesFreely(BlockArgument argument) {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop)
    return false;
  if (argument == loop.getInductionVar())
    return true;
  if (isa<ShapedType>(argument.getType()))
    return false;
  // Its next value: free operations on numbers, on nothing but this loop's number, itself and what stands outside.
  SmallVector<Value> open{loop.getTiedLoopYieldedValue(argument)->get()};
  DenseSet<Value> seen;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!seen.insert(value).second || value == argument || value == loop.getInductionVar())
      continue;
    Operation *definition = value.getDefiningOp();
    if (!definition) {
      if (cast<BlockArgument>(value).getOwner() == argument.getOwner())
        return false;
      continue;
    }
    if (!loop->isAncestor(definition))
      continue;
    if (definition->getBlock() != loop.getBody() || !isFree(definition) ||
        llvm::any_of(definition->getOperandTypes(), llvm::IsaPred<ShapedType>))
      return false;
    llvm::append_range(open, definition->getOperands());
  }
  return true;
}

bool KernelEmitter::dependsOnAhead(Operation *op, Block &block) {
  bool all = true;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (!definition) {
        auto argument = cast<BlockArgument>(operand);
        Operation *owner = argument.getOwner()->getParentOp();
        if (argument.getOwner() == &block && owner != source)
          all &= evolvesFreely(argument);
        continue;
      }
      Operation *top = block.findAncestorOpInBlock(*definition);
      all &= !top || op->isAncestor(definition) || aheadOps.contains(top) || (isFree(top) && dependsOnAhead(top, block));
    }
  });
  return all;
}

void KernelEmitter::findBases() {
  source.walk([&](Operation *op) {
    if (Value base = dg::writtenMemory(op))
      storedBases.insert(base);
    if (Value base = dg::readMemory(op))
      loadedBases.insert(base);
  });
}

// Parts a loop's body into what engines do ahead (aheadOps) and the rest. Is it worth while?
bool KernelEmitter::split(Block &block) {
  if (!layout.overlap.ahead)
    return false;
  bool behind = false;
  SmallVector<Operation *> ahead;
  for (Operation &op : block.without_terminator()) {
    if (isFree(&op))
      continue;
    if (isCommand(&op) && dependsOnAhead(&op, block)) {
      aheadOps.insert(&op);
      ahead.push_back(&op);
    } else {
      behind = true;
    }
  }
  // One slot of accumulators cannot wait for a drain of the section behind.
  bool possible = behind && !ahead.empty();
  if (layout.overlap.accumulatorSlots == 1)
    for (Operation *op : ahead)
      for (Value result : op->getResults())
        possible &=
            !isHeldInAccumulators(result) || llvm::all_of(result.getUsers(), [&](Operation *user) { return aheadOps.contains(user); });
  return possible;
}

//===-- The loop over programs --------------------------------------------===//

LogicalResult KernelEmitter::checkTypes() {
  WalkResult walked = source.walk([](Operation *op) {
    for (Type type : op->getResultTypes()) {
      Type element = getElementTypeOrSelf(type);
      if (isa<ShapedType>(type) && !(element.isIndex() || (element.isIntOrFloat() && element.getIntOrFloatBitWidth() <= 64))) {
        op->emitOpError("has elements of type ") << element << "; the NPU knows integers and floats of up to 64 bits";
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult KernelEmitter::run() {
  if (failed(checkTypes()))
    return failure();
  declareInstructions();
  int place = 0;
  source.walk<WalkOrder::PreOrder>([&](Operation *op) { position[op] = ++place; });
  source.walk([&](Operation *op) {
    int last = std::max(lastPosition.lookup(op), position.lookup(op));
    lastPosition[op] = last;
    if (Operation *parent = op->getParentOp())
      lastPosition[parent] = std::max(lastPosition.lookup(parent), last);
  });
  for (auto &buffer : layout.buffers) {
    std::fill(&buffer->tickets[0][0][0], &buffer->tickets[0][0][0] + sizeof(buffer->tickets) / sizeof(llvm::AllocaInst *), nullptr);
    buffer->slot[0] = buffer->slot[1] = nullptr;
  }
  findBases();
  hasAhead = split(source.getBody().front());

  llvm::Type *ptr = builder.getPtrTy(), *i64 = builder.getInt64Ty();
  auto *type = llvm::FunctionType::get(builder.getVoidTy(), {ptr, i64, i64, i64}, false);
  function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, source.getName(), module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("no-builtins");                                        // there is no C library on a core: no memset out of stores
  function->addFnAttr("warn-stack-size", std::to_string(DG_LM_STACK_BYTES)); // more is an error of compileToObject
  auto *entryBlock = llvm::BasicBlock::Create(context, "entry", function);
  auto *first = llvm::BasicBlock::Create(context, "arguments", function);
  entry.SetInsertPoint(llvm::BranchInst::Create(first, entryBlock));
  builder.SetInsertPoint(first);

  launch = function->getArg(0);
  auto slotPointer = [&](size_t bytes) { return builder.CreateConstGEP1_64(builder.getInt8Ty(), launch, bytes); };
  auto fixed = source->getAttrOfType<DenseI64ArrayAttr>("dg.grid");
  for (int axis = 0; axis < 3; ++axis)
    grid[axis] = fixed ? this->i64(fixed[axis]) : builder.CreateLoad(i64, slotPointer(offsetof(dg_launch, grid) + 8 * axis));
  for (auto [index, argument] : llvm::enumerate(source.getArguments())) {
    llvm::Value *pointer = slotPointer(offsetof(dg_launch, arguments) + 8 * index);
    llvm::Type *type = isa<MemRefType>(argument.getType()) ? i64 : elementType(argument.getType(), context);
    if (!type)
      return source.emitError("argument ") << index << " has the type " << argument.getType() << ", which the NPU has no register for";
    scalars[argument] = type->isIntegerTy(1) ? builder.CreateTrunc(builder.CreateLoad(builder.getInt8Ty(), pointer), type)
                                             : builder.CreateLoad(type, pointer);
  }
  for (int queue = 0; queue < DG_QUEUES; ++queue)
    lastTicket[queue] = variable(i64, this->i64(0));
  if (failed(emitPrograms()))
    return failure();
  forgetWaits();
  for (int queue = 0; queue < DG_QUEUES; ++queue)
    waitFor(core, queue, lastTicket[queue]);
  builder.CreateRetVoid();
  return success();
}

//   q = first, i = 0
//   loop:  next slots;  if (q < last) ahead(q);  if (i > 0) behind(p);  leave if q >= last;  p = q, q += step, ++i
// Without sections:  while (q < last) { next slots; all(q); q += step }
LogicalResult KernelEmitter::emitPrograms() {
  llvm::Value *first = function->getArg(1), *last = function->getArg(2), *step = function->getArg(3);
  llvm::BasicBlock *before = builder.GetInsertBlock();
  auto block = [&](const char *name) { return llvm::BasicBlock::Create(context, name, function); };
  llvm::BasicBlock *head = block("program"), *exit = block("exit");
  builder.CreateBr(head);
  builder.SetInsertPoint(head);
  llvm::PHINode *program = builder.CreatePHI(builder.getInt64Ty(), 2, "next");
  llvm::PHINode *previous = builder.CreatePHI(builder.getInt64Ty(), 2, "current");
  llvm::PHINode *count = builder.CreatePHI(builder.getInt64Ty(), 2, "iteration");
  iteration = count;
  program->addIncoming(first, before);
  previous->addIncoming(first, before);
  count->addIncoming(i64(0), before);

  llvm::Value *more = builder.CreateICmpULT(program, last);
  if (hasAhead) {
    nextSlots(nullptr);
    llvm::BasicBlock *ahead = block("ahead"), *joined = block("issued"), *behind = block("behind"), *latch = block("latch");
    builder.CreateCondBr(more, ahead, joined);
    builder.SetInsertPoint(ahead);
    if (failed(emitSection(program, true)))
      return failure();
    builder.CreateBr(joined);
    builder.SetInsertPoint(joined);
    builder.CreateCondBr(builder.CreateICmpNE(count, i64(0)), behind, latch);
    builder.SetInsertPoint(behind);
    if (failed(emitSection(previous, false)))
      return failure();
    builder.CreateBr(latch);
    builder.SetInsertPoint(latch);
  } else {
    llvm::BasicBlock *body = block("body");
    builder.CreateCondBr(more, body, exit);
    builder.SetInsertPoint(body);
    nextSlots(nullptr);
    if (failed(emitSection(program, false)))
      return failure();
  }
  llvm::BasicBlock *latch = builder.GetInsertBlock();
  program->addIncoming(builder.CreateAdd(program, step), latch);
  previous->addIncoming(program, latch);
  count->addIncoming(builder.CreateAdd(count, i64(1)), latch);
  if (hasAhead)
    builder.CreateCondBr(more, head, exit);
  else
    builder.CreateBr(head);
  builder.SetInsertPoint(exit);
  return success();
}

LogicalResult KernelEmitter::emitSection(llvm::Value *program, bool ahead) {
  sections[nullptr] = !hasAhead ? Whole : ahead ? Ahead : Behind;
  forgetWaits();
  llvm::Value *rest = builder.CreateUDiv(program, grid[0]);
  programIds[0] = builder.CreateURem(program, grid[0]);
  programIds[1] = builder.CreateURem(rest, grid[1]);
  programIds[2] = builder.CreateUDiv(rest, grid[1]);
  LogicalResult result = emitBlock(source.getBody().front());
  forgetWaits();
  sections[nullptr] = Whole;
  return result;
}

//===-- Buffers -----------------------------------------------------------===//

Buffer *KernelEmitter::buffer(const void *key, int role, Location where, const llvm::Twine &what, int64_t bytes, bool accumulators,
                              Filled filled) {
  Buffer *&found = layout.byRole[{key, role}];
  if (!found) {
    found = layout.buffers.emplace_back(new Buffer{what.str(), where}).get();
    found->accumulators = accumulators;
    // Whole lines, and in LM room for a last vector that overruns its row.
    found->bytes = llvm::alignTo(bytes + (accumulators ? 0 : 124), 128);
    found->loop = loops.empty() ? nullptr : loops.back();
    found->begin = found->end = position[current];
    const Overlap &overlap = layout.overlap;
    found->slots = accumulators                   ? overlap.accumulatorSlots
                   : filled == Filled::ByCommand  ? overlap.slots
                   : filled == Filled::ToBeStored ? overlap.resultSlots
                                                  : 1;
    found->ahead = sections.lookup(found->loop) == Ahead;
    found->alone = found->slots > 1 || llvm::any_of(sections, [](auto &entry) { return entry.second == Ahead; });
  }
  touch(found);
  return found;
}

// In use here; inside a loop that the buffer outlives, until the loop's end.
void KernelEmitter::touch(Buffer *buffer) {
  int here = position[current];
  for (Operation *loop : llvm::reverse(loops)) {
    if (loop == buffer->loop)
      break;
    here = std::max(here, lastPosition[loop]);
    buffer->begin = std::min(buffer->begin, position[loop]);
  }
  buffer->begin = std::min(buffer->begin, position[current]);
  buffer->end = std::max(buffer->end, here);
}

// How many iterations ago the code being emitted sees the buffer filled.
int KernelEmitter::lag(const Buffer *buffer) const { return buffer->ahead && sections.lookup(buffer->loop) == Behind ? 1 : 0; }

llvm::AllocaInst *KernelEmitter::variable(llvm::Type *type, llvm::Value *initial) {
  llvm::AllocaInst *memory = entry.CreateAlloca(type);
  if (initial)
    entry.CreateStore(initial, memory);
  return memory;
}

llvm::AllocaInst *KernelEmitter::ticket(Buffer *buffer, Access access, int queue, int age) {
  llvm::AllocaInst *&memory = buffer->tickets[access][queue][age];
  if (!memory)
    memory = variable(builder.getInt64Ty(), i64(0));
  buffer->queues[access] |= 1u << queue;
  return memory;
}

// An iteration of `loop` begins: its buffers' tickets age by one. The oldest are those of the slot that is current now.
void KernelEmitter::nextSlots(Operation *loop) {
  forgetWaits();
  for (auto &owned : layout.buffers) {
    Buffer *buffer = owned.get();
    if (buffer->loop != loop || buffer->slots == 1)
      continue;
    for (Access access : {Read, Write})
      for (int queue = 0; queue < DG_QUEUES; ++queue) {
        if (!(buffer->queues[access] >> queue & 1))
          continue;
        auto value = [&](int age) { return builder.CreateLoad(builder.getInt64Ty(), ticket(buffer, access, queue, age)); };
        llvm::Value *oldest = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umax, value(buffer->slots), value(buffer->slots - 1));
        builder.CreateStore(oldest, ticket(buffer, access, queue, buffer->slots));
        for (int age = buffer->slots - 1; age > 0; --age)
          builder.CreateStore(value(age - 1), ticket(buffer, access, queue, age));
        if (!buffer->kept)
          builder.CreateStore(i64(0), ticket(buffer, access, queue, 0));
      }
    if (buffer->kept)
      builder.CreateStore(builder.CreateLoad(builder.getInt64Ty(), keptSlot(buffer, 0)), keptSlot(buffer, 1));
  }
  if (loop) {
    llvm::AllocaInst *&count = loopCounts[loop];
    if (!count)
      count = variable(builder.getInt64Ty(), i64(0));
    builder.CreateStore(builder.CreateAdd(builder.CreateLoad(builder.getInt64Ty(), count), i64(1)), count);
  }
}

// Of a kept buffer: the slot filled last (age 0), and the one that was so when this iteration began.
llvm::AllocaInst *KernelEmitter::keptSlot(Buffer *buffer, int age) {
  if (!buffer->slot[age])
    buffer->slot[age] = variable(builder.getInt64Ty(), i64(0));
  return buffer->slot[age];
}

llvm::Value *KernelEmitter::slotOffset(Buffer *buffer) {
  if (buffer->slots == 1)
    return i64(0);
  if (buffer->kept)
    return builder.CreateMul(builder.CreateLoad(builder.getInt64Ty(), keptSlot(buffer, lag(buffer))), i64(buffer->bytes));
  llvm::Value *count = buffer->loop ? builder.CreateLoad(builder.getInt64Ty(), loopCounts[buffer->loop]) : iteration;
  llvm::Value *slot = builder.CreateAnd(builder.CreateSub(count, i64(lag(buffer))), i64(buffer->slots - 1));
  return builder.CreateMul(slot, i64(buffer->bytes));
}

llvm::Value *KernelEmitter::address(const Tile &tile) {
  int64_t base = (tile.buffer->accumulators ? 0 : int64_t(DG_LM_BASE)) + tile.buffer->offset;
  return builder.CreateAdd(builder.CreateAdd(slotOffset(tile.buffer), i64(base)), tile.offset);
}

Tile KernelEmitter::newTile(const void *key, int role, Location where, RankedTensorType type, const llvm::Twine &what, Filled filled,
                            bool inAcc) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << what << ", ";
  llvm::interleave(type.getShape(), stream, "x");
  stream << 'x' << type.getElementType();
  Tile tile;
  tile.element = type.getElementType();
  tile.shape.assign(type.getShape().begin(), type.getShape().end());
  int64_t bytes = inAcc ? 4 : elementBytes(tile.element);
  tile.strides = denseStrides(tile.shape, bytes);
  tile.offset = i64(0);
  tile.buffer = buffer(key, role, where, text, type.getNumElements() * bytes, inAcc, filled);
  return tile;
}

//===-- Waiting -----------------------------------------------------------===//

// `waiter` goes on only when `queue` has reached the ticket. A wait of the core holds for all that it issues later.
void KernelEmitter::waitFor(int waiter, int queue, llvm::AllocaInst *ticket) {
  if (satisfied.contains({core, ticket}) || !satisfied.insert({waiter, ticket}).second)
    return;
  llvm::Value *value = builder.CreateLoad(builder.getInt64Ty(), ticket);
  if (waiter == core)
    builder.CreateCall(coreWait, {i32(queue), value});
  else
    builder.CreateCall(queueWait, {i32(waiter), i32(queue), value});
}

// Before a command of `queue` (or the core) reads or writes the buffer: its writers, and for a write also its readers, are
// done; for a write this concerns every buffer in the same memory.
void KernelEmitter::beforeAccess(int queue, Buffer *buffer, Access access) {
  touch(buffer);
  for (auto &candidate : layout.buffers) {
    Buffer *other = candidate.get();
    bool same = other == buffer;
    if (!same && !(access == Write && layout.measured && !buffer->alone && !other->alone && other->overlaps(*buffer)))
      continue;
    for (Access earlier : {Write, Read}) {
      if (earlier == Read && access == Read)
        continue;
      for (int q = 0; q < DG_QUEUES; ++q) {
        bool inOrder = q == queue && (q <= DG_DRAIN || access == Write);
        if (!(other->queues[earlier] >> q & 1) || inOrder)
          continue;
        if (!same || access == Read) {
          for (int age = same ? lag(other) : 0; age <= (same ? lag(other) : other->slots - 1); ++age)
            waitFor(queue, q, ticket(other, earlier, q, age));
        } else {
          if (!other->kept || other->slots == 1)
            waitFor(queue, q, ticket(other, earlier, q, lag(other)));
          if (other->slots > 1 && lag(other) == 0)
            waitFor(queue, q, ticket(other, earlier, q, other->slots));
        }
      }
    }
  }
}

void KernelEmitter::afterCommand(int queue, llvm::Value *issued, ArrayRef<Buffer *> reads, ArrayRef<Buffer *> writes) {
  auto record = [&](llvm::AllocaInst *memory) {
    builder.CreateStore(issued, memory);
    for (int waiter = core; waiter < DG_QUEUES; ++waiter)
      satisfied.erase({waiter, memory});
  };
  for (Buffer *buffer : reads)
    record(ticket(buffer, Read, queue, lag(buffer)));
  for (Buffer *buffer : writes)
    record(ticket(buffer, Write, queue, lag(buffer)));
  record(lastTicket[queue]);
}

// Global memory that the kernel both reads and writes: stores issued earlier come before this read, and before a write
// the loads issued earlier.
void KernelEmitter::waitForStores(int queue, Value base, bool forWriting) {
  if (!(forWriting ? loadedBases : storedBases).contains(base))
    return;
  for (int other : forWriting ? std::array<int, 2>{DG_LOAD0, DG_LOAD1} : std::array<int, 2>{DG_STORE0, DG_STORE1})
    waitFor(queue, other, lastTicket[other]);
}

} // namespace dougong::npu
