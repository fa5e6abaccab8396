// Every ONNX op this importer knows, family by family.
#include "models/op_table.h"
#include <unordered_map>

namespace dougong::models {

static const std::unordered_map<std::string_view, ImportOp> &table() {
  static const std::unordered_map<std::string_view, ImportOp> ops = [] {
    std::unordered_map<std::string_view, ImportOp> result;
    for (OpFamily family : {elementwise_ops(), math_ops(), convolution_ops(), pooling_ops(), contraction_ops(), reduction_ops(),
                            normalization_ops(), shape_ops(), move_ops(), gather_ops(), resize_ops(), quantization_ops(), recurrent_ops(),
                            sorting_ops(), grid_sample_ops(), spectrum_ops()})
      for (const OpImporter &entry : family)
        result[entry.op] = entry.import;
    return result;
  }();
  return ops;
}

ImportOp find_importer(std::string_view op) {
  auto found = table().find(op);
  return found == table().end() ? nullptr : found->second;
}

std::vector<std::string_view> supported_ops() {
  std::vector<std::string_view> names;
  for (const auto &[name, import] : table())
    names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace dougong::models
