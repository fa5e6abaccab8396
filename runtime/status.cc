// The one error of the runtime, and its translation to exit statuses.
#include "runtime/status.h"
#include "llvm/Support/raw_ostream.h"

namespace dougong {

char Failure::ID;

void Failure::log(llvm::raw_ostream &stream) const { stream << text; }

std::pair<Status, std::string> explain(llvm::Error error) {
  std::pair<Status, std::string> result{Status::Ok, ""};
  auto append = [&](Status code, const std::string &text) {
    if (result.first == Status::Ok)
      result.first = code;
    result.second += (result.second.empty() ? "" : "\n") + text;
  };
  llvm::handleAllErrors(
      std::move(error), [&](const Failure &failure) { append(failure.code, failure.text); },
      [&](const llvm::ErrorInfoBase &other) { append(Status::Invalid, other.message()); });
  return result;
}

int exit_status(Status code) {
  switch (code) {
  case Status::Ok:
    return 0;
  case Status::DeviceFault:
    return 200;
  case Status::Invalid:
  case Status::OutOfMemory:
  case Status::Unsupported:
    return 2;
  }
  return 2;
}

} // namespace dougong
