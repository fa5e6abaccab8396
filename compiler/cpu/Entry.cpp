// The function every target's kernel is (isa/machine_layout.h), around the body of one program.
//
//   func @k(%a: memref<4x4xf32>, %n: i32) { %t = memref.alloc() … ; %p = dg.program_id 0 ; … }
// →
//   func private @k.programs(%a: !llvm.ptr {noalias}, %n: i32, %gx, %gy, %gz, %first, %last, %step: index) {
//     %scratch = malloc(sum of the temporaries)                      // or an alloca, if they are small
//     for %i = %first to %last step %step { %p = %i mod %gx ; … }
//     free(%scratch)
//   }
//   func @k(%launch: !llvm.ptr, %first: i64, %last: i64, %step: i64) { unpack the launch's slots ; call @k.programs }
//
// Two functions, because only a function's arguments can be said not to overlap (LLVM turns that into scopes when it inlines).
#include "compiler/cpu/cpu.h"
#include "compiler/dialect/Dg.h"
#include "isa/machine_layout.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"

using namespace mlir;
using namespace dougong;

namespace {
constexpr int64_t stackBytes = 128 << 10; // temporaries up to this live on the thread's stack
constexpr int64_t alignment = 64;

int64_t bytesOf(MemRefType type) {
  Type element = type.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return type.getNumElements() * std::max<int64_t>(1, llvm::PowerOf2Ceil(llvm::divideCeil(bits, 8)));
}

// A memref of static or unknown extent at `pointer`, as the descriptor that the lowering of memrefs expects.
Value memrefAt(ImplicitLocOpBuilder &b, MemRefType type, Value pointer) {
  int64_t rank = type.getRank();
  Type i64 = b.getI64Type(), ptr = pointer.getType();
  SmallVector<Type> fields = {ptr, ptr, i64};
  if (rank)
    fields.append(2, LLVM::LLVMArrayType::get(i64, rank));
  Value descriptor = LLVM::PoisonOp::create(b, LLVM::LLVMStructType::getLiteral(b.getContext(), fields));
  auto put = [&](Value value, ArrayRef<int64_t> at) { descriptor = LLVM::InsertValueOp::create(b, descriptor, value, at); };
  auto constant = [&](int64_t value) { return LLVM::ConstantOp::create(b, i64, b.getI64IntegerAttr(value)); };
  put(pointer, {0});
  put(pointer, {1});
  put(constant(0), {2});
  SmallVector<int64_t> strides = computeSuffixProduct(type.getShape());
  for (int64_t d = 0; d < rank; ++d) {
    put(constant(type.isDynamicDim(d) ? INT64_MAX : type.getDimSize(d)), {3, d});
    put(constant(type.isDynamicDim(d) ? 1 : strides[d]), {4, d});
  }
  return UnrealizedConversionCastOp::create(b, type, descriptor).getResult(0);
}

// One block of memory for all temporaries of static size, each at its own place: bufferizeKernel saw to it that none
// outlives the iteration it was made in.
LogicalResult placeTemporaries(ImplicitLocOpBuilder &b, func::FuncOp function) {
  SmallVector<memref::AllocOp> temporaries;
  WalkResult dynamic = function.walk([&](memref::AllocOp op) {
    if (!op.getType().hasStaticShape()) {
      op.emitError("a temporary of this kernel has no static size, which the CPU target cannot place; give the kernel static shapes");
      return WalkResult::interrupt();
    }
    temporaries.push_back(op);
    return WalkResult::advance();
  });
  if (dynamic.wasInterrupted())
    return failure();
  int64_t total = 0;
  for (memref::AllocOp op : temporaries)
    total += llvm::alignTo(bytesOf(op.getType()), alignment) + alignment; // a line between, against vectors that run in step
  if (!total)
    return success();
  Type i8 = b.getI8Type(), i64 = b.getI64Type(), ptr = LLVM::LLVMPointerType::get(b.getContext());
  bool heap = total > stackBytes;
  Value size = LLVM::ConstantOp::create(b, i64, b.getI64IntegerAttr(total + (heap ? alignment : 0)));
  Value block;
  if (heap) {
    auto module = function->getParentOfType<ModuleOp>();
    block = LLVM::CallOp::create(b, *LLVM::lookupOrCreateMallocFn(b, module, i64), ValueRange(size)).getResult();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(function.getBody().front().getTerminator());
    LLVM::CallOp::create(b, *LLVM::lookupOrCreateFreeFn(b, module), ValueRange(block));
  } else {
    block = LLVM::AllocaOp::create(b, ptr, i8, size, alignment);
  }
  Value base = block;
  if (heap) {
    Value address = LLVM::PtrToIntOp::create(b, i64, block);
    Value up = LLVM::AddOp::create(b, address, LLVM::ConstantOp::create(b, i64, b.getI64IntegerAttr(alignment - 1)));
    Value mask = LLVM::ConstantOp::create(b, i64, b.getI64IntegerAttr(-alignment));
    Value skip = LLVM::SubOp::create(b, LLVM::AndOp::create(b, up, mask), address);
    base = LLVM::GEPOp::create(b, ptr, i8, block, ValueRange(skip));
  }
  int64_t at = 0;
  for (memref::AllocOp op : temporaries) {
    Value place = LLVM::GEPOp::create(b, ptr, i8, base, ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(at)});
    op.replaceAllUsesWith(memrefAt(b, op.getType(), place));
    at += llvm::alignTo(bytesOf(op.getType()), alignment) + alignment;
    op.erase();
  }
  return success();
}

// The body of one program → the loop over programs, in a new function.
func::FuncOp makeProgramLoop(func::FuncOp kernel, bool disjoint) {
  MLIRContext *context = kernel.getContext();
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
  Type ptr = LLVM::LLVMPointerType::get(context), index = b.getIndexType();
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes())
    types.push_back(isa<MemRefType>(type) ? ptr : type);
  size_t count = types.size();
  types.append(6, index);
  auto function = func::FuncOp::create(b, (kernel.getName() + ".programs").str(), b.getFunctionType(types, {}));
  function.setPrivate();
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  func::ReturnOp::create(b);
  b.setInsertionPointToStart(entry);

  IRMapping map;
  for (size_t i = 0; i < count; ++i) {
    Value argument = entry->getArgument(i);
    if (auto memory = dyn_cast<MemRefType>(kernel.getArgumentTypes()[i])) {
      if (disjoint)
        function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
      argument = memrefAt(b, memory, argument);
    }
    map.map(kernel.getArgument(i), argument);
  }
  std::array<Value, 3> grid = {entry->getArgument(count), entry->getArgument(count + 1), entry->getArgument(count + 2)};
  Value first = entry->getArgument(count + 3), last = entry->getArgument(count + 4), step = entry->getArgument(count + 5);
  auto loop = scf::ForOp::create(b, first, last, step);
  ImplicitLocOpBuilder inner(kernel.getLoc(), loop.getBody()->getTerminator());
  Value i = loop.getInductionVar(), rest = arith::DivUIOp::create(inner, i, grid[0]);
  std::array<Value, 3> id = {arith::RemUIOp::create(inner, i, grid[0]), arith::RemUIOp::create(inner, rest, grid[1]),
                             arith::DivUIOp::create(inner, rest, grid[1])};
  for (Operation &op : kernel.getBody().front().without_terminator())
    inner.clone(op, map);
  SmallVector<Operation *> ids;
  loop.walk([&](Operation *op) {
    if (auto program = dyn_cast<dg::ProgramIdOp>(op))
      program.replaceAllUsesWith(id[program.getAxis()]), ids.push_back(op);
    else if (auto programs = dyn_cast<dg::NumProgramsOp>(op))
      programs.replaceAllUsesWith(grid[programs.getAxis()]), ids.push_back(op);
  });
  for (Operation *op : ids)
    op->erase();
  return function;
}

// A scalar argument of `type` out of its 64-bit slot.
Value scalarOf(ImplicitLocOpBuilder &b, Type type, Value slot) {
  if (type.isIndex())
    return arith::IndexCastOp::create(b, type, slot);
  unsigned width = type.getIntOrFloatBitWidth();
  Value bits = width < 64 ? arith::TruncIOp::create(b, b.getIntegerType(width), slot).getResult() : slot;
  return isa<FloatType>(type) ? arith::BitcastOp::create(b, type, bits).getResult() : bits;
}

// @k itself: unpacks the launch and calls the loop over programs.
void unpackLaunch(func::FuncOp kernel, func::FuncOp programs) {
  MLIRContext *context = kernel.getContext();
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel);
  Type ptr = LLVM::LLVMPointerType::get(context), i64 = b.getI64Type(), index = b.getIndexType();
  SmallVector<Type> types(kernel.getArgumentTypes());
  kernel.getBody().getBlocks().clear();
  kernel.setType(b.getFunctionType({ptr, i64, i64, i64}, {}));
  kernel.setArgAttrsAttr(nullptr);
  kernel.setPublic();
  kernel->removeAttr("dg.grid");
  Block *entry = kernel.addEntryBlock();
  b.setInsertionPointToStart(entry);
  auto slot = [&](int64_t byte, Type type) -> Value {
    Value at = LLVM::GEPOp::create(b, ptr, b.getI8Type(), entry->getArgument(0), ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(byte)});
    return LLVM::LoadOp::create(b, type, at);
  };
  SmallVector<Value> operands;
  for (auto [i, type] : llvm::enumerate(types)) {
    int64_t byte = offsetof(dg_launch, arguments) + 8 * i;
    operands.push_back(isa<MemRefType>(type) ? slot(byte, ptr) : scalarOf(b, type, slot(byte, i64)));
  }
  for (int64_t axis = 0; axis < 3; ++axis)
    operands.push_back(arith::IndexCastOp::create(b, index, slot(offsetof(dg_launch, grid) + 8 * axis, i64)));
  for (int64_t i = 1; i < 4; ++i)
    operands.push_back(arith::IndexCastOp::create(b, index, entry->getArgument(i)));
  func::CallOp::create(b, programs, operands);
  func::ReturnOp::create(b);
}
} // namespace

LogicalResult cpu::makeEntry(func::FuncOp kernel, bool disjoint) {
  func::FuncOp programs = makeProgramLoop(kernel, disjoint);
  ImplicitLocOpBuilder b(kernel.getLoc(), kernel.getContext());
  b.setInsertionPointToStart(&programs.getBody().front());
  if (failed(placeTemporaries(b, programs)))
    return failure();
  unpackLaunch(kernel, programs);
  return success();
}
