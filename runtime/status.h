// What a call of the runtime says when it fails: a code that a program can act on, and a text for people with place, reason and fix.
//
// `llvm::Error` carries it inside the project; the C API turns it into a `dg_status` and `dg_last_error()` (no exception
// crosses a boundary). A failure made elsewhere, by a compiler say, has no code and counts as `Invalid`: the user's mistake.
#pragma once
#include "llvm/Support/Error.h"
#include <fmt/format.h>
#include <string>
#include <utility>

namespace dougong {

enum class Status {
  Ok = 0,
  Invalid,     // a wrong argument, name, shape, type, handle or file: the caller's mistake
  OutOfMemory, // of the device
  DeviceFault, // the kernel did something forbidden, or waits for ever; the device and other launches go on
  Unsupported, // right, but not something this device or this version can do
};

class Failure : public llvm::ErrorInfo<Failure> {
public:
  static char ID;
  Failure(Status code, std::string text) : code(code), text(std::move(text)) {}
  void log(llvm::raw_ostream &stream) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  Status code;
  std::string text;
};

template <typename... Arguments> llvm::Error fail(Status code, fmt::format_string<Arguments...> format, Arguments &&...arguments) {
  return llvm::make_error<Failure>(code, fmt::format(format, std::forward<Arguments>(arguments)...));
}

// Takes the error apart. Several joined ones give their texts, a line each, and the first one's code.
std::pair<Status, std::string> explain(llvm::Error error);

// The process exit status for a code: 2 for a user's mistake, 200 for a device fault (ARCHITECTURE.md, section 7).
int exit_status(Status code);

} // namespace dougong
