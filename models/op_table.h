// The table of ONNX ops: name → importer. Each family of ops has its own list; `op_table.cc` is the list of families.
#pragma once
#include "models/node.h"
#include <span>
#include <string_view>

namespace dougong::models {

using ImportOp = void (*)(Node &);
struct OpImporter {
  std::string_view op;
  ImportOp import;
};
using OpFamily = std::span<const OpImporter>;

OpFamily elementwise_ops();
OpFamily math_ops();
OpFamily convolution_ops();
OpFamily pooling_ops();
OpFamily contraction_ops();
OpFamily reduction_ops();
OpFamily normalization_ops();
OpFamily shape_ops();
OpFamily move_ops();
OpFamily gather_ops();
OpFamily resize_ops();
OpFamily quantization_ops();
OpFamily recurrent_ops();
OpFamily sorting_ops();
OpFamily grid_sample_ops();
OpFamily spectrum_ops();

ImportOp find_importer(std::string_view op); // null if there is none
std::vector<std::string_view> supported_ops();

} // namespace dougong::models
