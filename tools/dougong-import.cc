// dougong-import: an ONNX model as the compiler sees it first, linalg on tensors as text. For people who write importers and passes.
//
//   dougong-import model.onnx --shape x=1x3x640x640                  as imported
//   dougong-import model.onnx --shape x=1x3x640x640 --kernels --f16  as the targets get it
#include "compiler/graph/graph.h"
#include "models/import.h"
#include "models/model_error.h"
#include <CLI/CLI.hpp>

using namespace dougong;

static std::pair<std::string, std::vector<int64_t>> parse_shape(const std::string &text) {
  size_t equals = text.rfind('=');
  std::vector<int64_t> shape;
  for (size_t at = equals + 1; equals != std::string::npos && at < text.size();
       at = text.find('x', at) == std::string::npos ? text.size() : text.find('x', at) + 1)
    shape.push_back(std::atoll(text.c_str() + at));
  return {text.substr(0, equals), shape};
}

int main(int argc, char **argv) {
  CLI::App app("an ONNX model as linalg on tensors");
  std::string path;
  std::vector<std::string> shapes;
  app.add_option("model", path, "the ONNX file")->required();
  app.add_option("--shape", shapes, "NAME=1x3x640x640, for inputs of open shape");
  bool kernels = false, half = false;
  app.add_flag("--kernels", kernels, "after kernels have been formed");
  app.add_flag("--f16", half, "with 16-bit floats between kernels, as on the NPU");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    std::map<std::string, std::vector<int64_t>> given;
    for (const std::string &shape : shapes)
      given.insert(parse_shape(shape));
    models::Model model = models::Model::load(path);
    mlir::MLIRContext context;
    models::ImportedModel imported = models::import_model(model, given, {}, context);
    if (half && failed(usePrecision(imported.module->lookupSymbol<mlir::func::FuncOp>("main"), mlir::Float16Type::get(&context))))
      return 1;
    if (kernels && failed(formKernels(*imported.module)))
      return 1;
    mlir::OpPrintingFlags flags;
    imported.module->print(llvm::outs(), flags.enableDebugInfo(false));
    return 0;
  } catch (const models::NeedsInputValues &error) {
    llvm::errs() << "dougong-import: " << error.what() << "\n";
  } catch (const models::ModelError &error) {
    llvm::errs() << "dougong-import: " << error.what() << "\n";
  }
  return 2;
}
