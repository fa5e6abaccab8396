// formKernels (see graph.h): each group of @main's operations becomes a private function, equal ones the same.
//
//   func @main(%x) { %0 = conv(%x) ; %1 = relu(%0) ; return %1 }
//   →  func private @k0(%x) attributes {dg.kernel} { %0 = conv(%x) ; %1 = relu(%0) ; return %1 }
//      func @main(%x) { %1 = call @k0(%x) ; return %1 }
#include "compiler/graph/Elementwise.h"
#include "compiler/graph/Groups.h"
#include "compiler/graph/Reductions.h"
#include "compiler/graph/graph.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace dougong {
namespace {

class Outliner {
public:
  Outliner(func::FuncOp main) : main(main), groups(main), builder(main.getContext()) {}

  void run() {
    for (int group : groups.ordered())
      outline(group);
    // Reshapes, clones and outlined operations stand where they stood; calls came in front of the terminator. Put all in
    // order, then drop what only the kernels' copies needed.
    sortTopologically(&main.getBody().front());
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main.getBody().front())))
      if (op.use_empty() && (groups.isCloned(&op) || groups.groupOf(&op) != Groups::none))
        op.erase();
  }

private:
  // A copy of what defines `value` for the kernel, with copies of the clones it reads; arguments for the rest.
  Value valueInKernel(Value value, IRMapping &mapping, SmallVectorImpl<Value> &inputs, Block *body) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Operation *producer = value.getDefiningOp();
    if (producer && groups.isCloned(producer)) {
      cloneInto(producer, mapping, inputs, body);
      return mapping.lookup(value);
    }
    inputs.push_back(value);
    Value argument = body->addArgument(value.getType(), value.getLoc());
    mapping.map(value, argument);
    return argument;
  }

  void cloneInto(Operation *op, IRMapping &mapping, SmallVectorImpl<Value> &inputs, Block *body) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value operand : op->getOperands())
      valueInKernel(operand, mapping, inputs, body);
    for (Value value : captured)
      valueInKernel(value, mapping, inputs, body);
    OpBuilder::atBlockEnd(body).clone(*op, mapping);
  }

  void outline(int group) {
    SmallVector<Location> locations;
    for (Operation *op : groups.operations(group))
      locations.push_back(op->getLoc());
    Location loc = builder.getFusedLoc(locations);
    OwningOpRef<func::FuncOp> kernel = func::FuncOp::create(loc, "k", builder.getFunctionType({}, {}));
    Block *body = kernel->addEntryBlock();
    SmallVector<Value> inputs, outputs, results;
    IRMapping mapping;
    for (Operation *op : groups.operations(group))
      cloneInto(op, mapping, inputs, body);
    for (Operation *op : groups.operations(group))
      for (Value result : op->getResults())
        if (groups.crosses(result)) {
          outputs.push_back(result);
          results.push_back(mapping.lookup(result));
        }
    if (outputs.empty())
      return; // dead code
    builder.setInsertionPointToEnd(body);
    func::ReturnOp::create(builder, loc, results);
    kernel->setFunctionType(builder.getFunctionType(body->getArgumentTypes(), ValueRange(results).getTypes()));
    FlatSymbolRefAttr callee = uniqueKernel(std::move(kernel));
    builder.setInsertionPoint(main.getBody().front().getTerminator());
    auto call = func::CallOp::create(builder, loc, callee, TypeRange(ValueRange(outputs)), inputs);
    for (auto [output, result] : llvm::zip(outputs, call.getResults()))
      output.replaceUsesWithIf(result, [&](OpOperand &use) { return isOutside(use.getOwner(), group); });
  }

  bool isOutside(Operation *user, int group) {
    while (user->getBlock() != &main.getBody().front())
      user = user->getParentOp();
    return groups.groupOf(user) != group;
  }

  // The name of this function in the module: that of an equal one, or a new one.
  FlatSymbolRefAttr uniqueKernel(OwningOpRef<func::FuncOp> kernel) {
    kernel->setPrivate();
    (*kernel)->setAttr(kernelAttribute, builder.getUnitAttr());
    std::string text;
    llvm::raw_string_ostream stream(text);
    kernel->print(stream, OpPrintingFlags().printGenericOpForm().useLocalScope());
    auto [known, isNew] = byText.try_emplace(text);
    if (isNew) {
      known->second = FlatSymbolRefAttr::get(builder.getStringAttr("k" + std::to_string(byText.size() - 1)));
      kernel->setSymName(known->second.getValue());
      main->getParentOfType<ModuleOp>().push_back(kernel.release());
    }
    return known->second;
  }

  func::FuncOp main;
  Groups groups;
  OpBuilder builder;
  llvm::StringMap<FlatSymbolRefAttr> byText;
};

} // namespace

LogicalResult formKernels(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || !main.getBody().hasOneBlock())
    return module.emitError("a model's module needs a function @main of one block");
  if (failed(fuseElementwise(main)))
    return failure();
  splitReductions(main);
  Outliner(main).run();
  return success();
}

} // namespace dougong
