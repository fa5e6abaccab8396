// What a compiled model is made of, before anything runs: each fused operator, its ONNX nodes, device and reason, tile, work and bytes.
#pragma once
#include "runtime/artifact.h"
#include <nlohmann/json_fwd.hpp>

namespace dougong {

using Properties = std::map<std::string, std::string>; // Artifact::properties

std::string explain_text(const Specialisation &program, const Properties &properties);
nlohmann::json explain_json(const Specialisation &program, const Properties &properties);

// On one line, long values cut: "character '\n疗\n绚\n… (26252 bytes); onnx.opset 12".
std::string properties_text(const Properties &properties);

} // namespace dougong
