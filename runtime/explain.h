// What a compiled model is made of, before anything runs: each fused operator, its ONNX nodes, device and reason, tile, work and bytes.
#pragma once
#include "runtime/artifact.h"
#include <nlohmann/json_fwd.hpp>

namespace dougong {

std::string explain_text(const Specialisation &program);
nlohmann::json explain_json(const Specialisation &program);

} // namespace dougong
