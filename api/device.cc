// The C API's devices, modules and streams.
#include "api/boundary.h"
#include "runtime/report.h"
#include "runtime/stream.h"
#include <cstring>
#include <nlohmann/json.hpp>

using namespace dougong;
using api::guarded;
using api::require;

struct dg_stream {
  explicit dg_stream(std::shared_ptr<Device> device) : stream(std::move(device)) {}
  Stream stream;
};

namespace {

// Stores the value, or passes the error on.
template <typename T, typename Into> llvm::Error store(llvm::Expected<T> value, Into *into) {
  if (!value)
    return value.takeError();
  *into = Into(*value);
  return llvm::Error::success();
}

template <size_t N> void copy_text(char (&to)[N], const std::string &from) {
  std::strncpy(to, from.c_str(), N - 1);
  to[N - 1] = 0;
}

std::array<uint64_t, 3> grid_of(const uint64_t grid[3]) { return {grid[0], grid[1], grid[2]}; }

} // namespace

dg_status dg_device_open(const char *spec, dg_device **device) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = llvm::joinErrors(require(spec, "spec"), require(device, "device")))
      return error;
    auto opened = Device::open(spec);
    if (!opened)
      return opened.takeError();
    *device = new dg_device{std::move(*opened)};
    return llvm::Error::success();
  });
}

void dg_device_close(dg_device *device) { delete device; }

dg_status dg_device_get_properties(const dg_device *device, dg_device_properties *properties) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = llvm::joinErrors(require(device, "device"), require(properties, "properties")))
      return error;
    if (properties->size != sizeof(dg_device_properties))
      return fail(Status::Invalid, "properties->size is {}, this library knows {}; set it to sizeof(dg_device_properties)",
                  properties->size, sizeof(dg_device_properties));
    DeviceInfo info = device->device->info();
    copy_text(properties->kind, info.kind);
    copy_text(properties->machine, info.machine);
    properties->cores = info.cores;
    properties->memory_bytes = info.memory_bytes;
    return llvm::Error::success();
  });
}

dg_status dg_device_allocate(dg_device *device, uint64_t bytes, uint64_t *address) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = llvm::joinErrors(require(device, "device"), require(address, "address")))
      return error;
    return store(device->device->allocate(bytes), address);
  });
}

dg_status dg_device_free(dg_device *device, uint64_t address) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = require(device, "device"))
      return error;
    return device->device->free(address);
  });
}

dg_status dg_device_map(dg_device *device, uint64_t address, uint64_t bytes, void **host) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = llvm::joinErrors(require(device, "device"), require(host, "host")))
      return error;
    return store(device->device->map(address, bytes), host);
  });
}

dg_status dg_device_copy_in(dg_device *device, uint64_t address, const void *source, uint64_t bytes) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = llvm::joinErrors(require(device, "device"), bytes ? require(source, "source") : llvm::Error::success()))
      return error;
    return device->device->copy_in(address, source, bytes);
  });
}

dg_status dg_device_copy_out(dg_device *device, void *destination, uint64_t address, uint64_t bytes) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error =
            llvm::joinErrors(require(device, "device"), bytes ? require(destination, "destination") : llvm::Error::success()))
      return error;
    return device->device->copy_out(destination, address, bytes);
  });
}

dg_status dg_module_load(dg_device *device, const void *image, uint64_t bytes, dg_module *module) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error =
            llvm::joinErrors(require(device, "device"), llvm::joinErrors(require(image, "image"), require(module, "module"))))
      return error;
    return store(device->device->load({static_cast<const char *>(image), bytes}), module);
  });
}

dg_status dg_module_unload(dg_device *device, dg_module module) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = require(device, "device"))
      return error;
    return device->device->unload(ModuleHandle(module));
  });
}

dg_status dg_module_kernel(dg_device *device, dg_module module, const char *name, dg_kernel *kernel) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = llvm::joinErrors(require(device, "device"), llvm::joinErrors(require(name, "name"), require(kernel, "kernel"))))
      return error;
    return store(device->device->kernel(ModuleHandle(module), name), kernel);
  });
}

dg_status dg_kernel_launch(dg_device *device, dg_kernel kernel, const uint64_t grid[3], const uint64_t *arguments, size_t count) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error =
            llvm::joinErrors(require(device, "device"),
                             llvm::joinErrors(require(grid, "grid"), count ? require(arguments, "arguments") : llvm::Error::success())))
      return error;
    return device->device->launch(KernelHandle(kernel), grid_of(grid), {arguments, count}).takeError();
  });
}

dg_status dg_device_statistics(const dg_device *device, char **json) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = llvm::joinErrors(require(device, "device"), require(json, "json")))
      return error;
    *json = api::copied(to_json(device->device->statistics()).dump());
    return llvm::Error::success();
  });
}

dg_status dg_stream_open(dg_device *device, dg_stream **stream) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = llvm::joinErrors(require(device, "device"), require(stream, "stream")))
      return error;
    *stream = new dg_stream(device->device);
    return llvm::Error::success();
  });
}

void dg_stream_close(dg_stream *stream) { delete stream; }

// Queues one command; `make` returns its event.
template <typename Make> static dg_status enqueue(dg_stream *stream, dg_event *event, Make make) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = require(stream, "stream"))
      return error;
    dg_event made = make();
    if (event)
      *event = made;
    return llvm::Error::success();
  });
}

dg_status dg_stream_copy_in(dg_stream *stream, uint64_t address, const void *source, uint64_t bytes, dg_event *event) {
  return enqueue(stream, event, [&] { return stream->stream.copy_in(address, source, bytes); });
}

dg_status dg_stream_copy_out(dg_stream *stream, void *destination, uint64_t address, uint64_t bytes, dg_event *event) {
  return enqueue(stream, event, [&] { return stream->stream.copy_out(destination, address, bytes); });
}

dg_status dg_stream_launch(dg_stream *stream, dg_kernel kernel, const uint64_t grid[3], const uint64_t *arguments, size_t count,
                           dg_event *event) {
  return enqueue(stream, event, [&] { return stream->stream.launch(KernelHandle(kernel), grid_of(grid), {arguments, arguments + count}); });
}

int dg_event_happened(const dg_stream *stream, dg_event event) { return stream && stream->stream.happened(event); }

dg_status dg_event_wait(dg_stream *stream, dg_event event) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = require(stream, "stream"))
      return error;
    return stream->stream.wait(event);
  });
}

dg_status dg_stream_synchronise(dg_stream *stream) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = require(stream, "stream"))
      return error;
    return stream->stream.synchronise();
  });
}
