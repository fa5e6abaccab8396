// The C API's kernels from source.
#include "api/boundary.h"
#include "api/kernel_source.h"

using namespace dougong;

struct dg_built_kernel {
  BuiltKernel kernel;
  std::vector<std::string> arguments;
};

dg_status dg_kernel_build(const dg_device *device, const char *file_name, const char *text, const char *function, const char *signature,
                          dg_built_kernel **built) {
  return api::guarded([&]() -> llvm::Error {
    for (auto [pointer, what] : std::initializer_list<std::pair<const void *, const char *>>{{device, "device"},
                                                                                             {file_name, "file_name"},
                                                                                             {text, "text"},
                                                                                             {function, "function"},
                                                                                             {signature, "signature"},
                                                                                             {built, "built"}})
      if (llvm::Error error = api::require(pointer, what))
        return error;
    KernelSource source{file_name, text, function, language::Signature::parse(signature)};
    auto kernel = build_kernel(source, device->device->machine());
    if (!kernel)
      return fail(Status::Invalid, "{}", llvm::toString(kernel.takeError()));
    auto *out = new dg_built_kernel{std::move(*kernel), {}};
    for (const language::LaunchArgument &argument : out->kernel.arguments)
      out->arguments.push_back(argument.name + ":" + argument.type);
    *built = out;
    return llvm::Error::success();
  });
}

void dg_built_kernel_free(dg_built_kernel *built) { delete built; }

const void *dg_built_kernel_image(const dg_built_kernel *built, uint64_t *bytes) {
  *bytes = built->kernel.module.image.size();
  return built->kernel.module.image.data();
}

size_t dg_built_kernel_argument_count(const dg_built_kernel *built) { return built->arguments.size(); }

const char *dg_built_kernel_argument(const dg_built_kernel *built, size_t index) {
  return index < built->arguments.size() ? built->arguments[index].c_str() : nullptr;
}
