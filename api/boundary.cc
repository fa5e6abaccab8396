// See boundary.h; and the calls that belong to no handle.
#include "api/boundary.h"
#include "runtime/element_type.h"
#include <cstdlib>
#include <cstring>

namespace dougong::api {

static thread_local std::string last_error;

dg_status record(dg_status code, const std::string &text) {
  last_error = text;
  return code;
}

dg_status record(llvm::Error error) {
  if (!error)
    return DG_OK;
  auto [code, text] = explain(std::move(error));
  return record(dg_status(code), text);
}

char *copied(const std::string &text) {
  auto *out = static_cast<char *>(std::malloc(text.size() + 1));
  if (!out)
    throw std::bad_alloc();
  std::memcpy(out, text.c_str(), text.size() + 1);
  return out;
}

llvm::Error require(const void *pointer, const char *what) {
  return pointer ? llvm::Error::success() : fail(Status::Invalid, "{} must not be NULL", what);
}

static_assert(int(Status::Invalid) == DG_INVALID && int(Status::OutOfMemory) == DG_OUT_OF_MEMORY &&
              int(Status::DeviceFault) == DG_DEVICE_FAULT && int(Status::Unsupported) == DG_UNSUPPORTED);
static_assert(int(ElementType::F16) == DG_TYPE_F16 && int(ElementType::I8) == DG_TYPE_I8 && int(ElementType::Bool) == DG_TYPE_BOOL);

} // namespace dougong::api

using namespace dougong;

const char *dg_last_error(void) { return api::last_error.c_str(); }
const char *dg_version(void) { return DOUGONG_VERSION; }
void dg_string_free(char *text) { std::free(text); }
size_t dg_element_bytes(dg_element_type type) { return unsigned(type) < element_types.size() ? size_in_bytes(ElementType(type)) : 0; }
