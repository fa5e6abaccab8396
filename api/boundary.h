// The boundary between our C++ and a C caller: errors and exceptions become a status and a text.
#pragma once
#include "api/include/dougong.h"
#include "runtime/device.h"
#include "runtime/status.h"

struct dg_device {
  std::shared_ptr<dougong::Device> device;
};

namespace dougong::api {

dg_status record(dg_status code, const std::string &text);
dg_status record(llvm::Error error); // DG_OK for success

// Runs `body`, which returns llvm::Error; nothing leaves it but a status.
template <typename Body> dg_status guarded(Body body) noexcept {
  try {
    return record(body());
  } catch (const std::bad_alloc &) {
    return record(DG_OUT_OF_MEMORY, "the host is out of memory");
  } catch (const std::exception &error) {
    return record(DG_INTERNAL, error.what());
  } catch (...) {
    return record(DG_INTERNAL, "an unknown exception");
  }
}

char *copied(const std::string &text); // for dg_string_free

// For arguments that must not be NULL.
llvm::Error require(const void *pointer, const char *what);

} // namespace dougong::api
