// What stops an import. Thrown inside models/ only: `Session` turns it into the runtime's error with its status.
#pragma once
#include "runtime/status.h"
#include <set>
#include <stdexcept>

namespace dougong::models {

struct ModelError : std::runtime_error {
  ModelError(Status status, const std::string &text) : std::runtime_error(text), status(status) {}
  Status status;
};

// The model is not what ONNX allows, or what it is given does not fit it.
template <typename... Arguments> [[noreturn]] void invalid(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
  throw ModelError(Status::Invalid, fmt::format(format, std::forward<Arguments>(arguments)...));
}

// The model is right, and this version cannot do it.
template <typename... Arguments> [[noreturn]] void unsupported(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
  throw ModelError(Status::Unsupported, fmt::format(format, std::forward<Arguments>(arguments)...));
}

// An operator wants data at import time that comes from these inputs of the model: import again with their values.
struct NeedsInputValues : std::runtime_error {
  NeedsInputValues(const std::string &text, std::set<std::string> inputs) : std::runtime_error(text), inputs(std::move(inputs)) {}
  std::set<std::string> inputs;
};

} // namespace dougong::models
