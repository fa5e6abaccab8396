// The C API's models.
#include "models/session.h"
#include "api/boundary.h"
#include "runtime/explain.h"
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>

using namespace dougong;
using api::guarded;
using api::require;

struct dg_session {
  std::unique_ptr<models::Session> session;
  std::mutex running;
  bool ran = false;
};

struct dg_outputs {
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
};

namespace {

llvm::Expected<ElementType> type_of(const dg_tensor &tensor) {
  if (unsigned(tensor.type) >= element_types.size())
    return fail(Status::Invalid, "input '{}': {} is no element type", tensor.name, int(tensor.type));
  return ElementType(tensor.type);
}

// Every input's name and shape, checked as far as a C structure can be.
llvm::Error check_inputs(const dg_tensor *inputs, size_t count, bool data) {
  if (count && !inputs)
    return require(nullptr, "inputs");
  for (size_t i = 0; i < count; ++i) {
    if (!inputs[i].name)
      return fail(Status::Invalid, "inputs[{}].name must not be NULL", i);
    if (inputs[i].rank < 0 || (inputs[i].rank && !inputs[i].shape))
      return fail(Status::Invalid, "input '{}': its shape is missing", inputs[i].name);
    uint64_t bytes = 8;
    for (int32_t d = 0; d < inputs[i].rank; ++d)
      if (inputs[i].shape[d] < 0 || __builtin_mul_overflow(bytes, uint64_t(inputs[i].shape[d]), &bytes) || bytes > uint64_t(1) << 46)
        return fail(Status::Invalid, "input '{}': the shape {} is not possible", inputs[i].name,
                    shape_text({inputs[i].shape, inputs[i].shape + inputs[i].rank}));
    bool empty = std::any_of(inputs[i].shape, inputs[i].shape + inputs[i].rank, [](int64_t extent) { return extent == 0; });
    if (data && !empty && !inputs[i].data)
      return fail(Status::Invalid, "input '{}': its data is missing", inputs[i].name);
  }
  return llvm::Error::success();
}

std::map<std::string, std::vector<int64_t>> shapes_of(const dg_tensor *inputs, size_t count) {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (size_t i = 0; i < count; ++i)
    shapes[inputs[i].name].assign(inputs[i].shape, inputs[i].shape + inputs[i].rank);
  return shapes;
}

llvm::Error check_format(std::string_view format) {
  if (format == "text" || format == "json")
    return llvm::Error::success();
  return fail(Status::Invalid, "no format '{}'; formats are text and json", format);
}

llvm::Error describe(const std::vector<models::SessionPort> &ports, size_t index, const char *what, dg_tensor *out) {
  if (llvm::Error error = require(out, what))
    return error;
  if (index >= ports.size())
    return fail(Status::Invalid, "{} {} of {}", what, index, ports.size());
  const models::SessionPort &port = ports[index];
  *out = {port.name.c_str(), dg_element_type(port.type), int32_t(port.shape.size()), port.shape.data(), nullptr};
  return llvm::Error::success();
}

} // namespace

void dg_session_options_init(dg_session_options *options) {
  if (!options)
    return;
  std::memset(options, 0, sizeof *options);
  options->size = sizeof *options;
  options->device = "npu";
  options->machine = "phone";
}

dg_status dg_session_open(const char *path, const dg_session_options *given, dg_session **session) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = llvm::joinErrors(require(path, "path"), require(session, "session")))
      return error;
    models::SessionOptions options;
    if (given) {
      if (given->size != sizeof(dg_session_options))
        return fail(Status::Invalid, "options->size is {}, this library knows {}; use dg_session_options_init", given->size,
                    sizeof(dg_session_options));
      if (given->device)
        options.device = given->device;
      if (given->machine)
        options.machine = given->machine;
      options.timing = given->timing;
      options.cores = given->cores;
      options.threads = unsigned(std::max(0, given->threads));
      options.cache = !given->no_cache;
      if (given->progress)
        options.progress = [call = given->progress, context = given->progress_context](const std::string &now) {
          call(context, now.c_str());
        };
    }
    auto opened = models::Session::open(path, options);
    if (!opened)
      return opened.takeError();
    *session = new dg_session;
    (*session)->session = std::move(*opened);
    return llvm::Error::success();
  });
}

void dg_session_close(dg_session *session) { delete session; }

size_t dg_session_input_count(const dg_session *session) { return session ? session->session->inputs().size() : 0; }
size_t dg_session_output_count(const dg_session *session) { return session ? session->session->outputs().size() : 0; }

dg_status dg_session_input(const dg_session *session, size_t index, dg_tensor *input) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = require(session, "session"))
      return error;
    return describe(session->session->inputs(), index, "input", input);
  });
}

dg_status dg_session_output(const dg_session *session, size_t index, dg_tensor *output) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = require(session, "session"))
      return error;
    return describe(session->session->outputs(), index, "output", output);
  });
}

const char *dg_session_property(const dg_session *session, const char *name) {
  if (!session || !name)
    return nullptr;
  auto found = session->session->properties().find(name);
  return found == session->session->properties().end() ? nullptr : found->second.c_str();
}

size_t dg_session_property_count(const dg_session *session) { return session ? session->session->properties().size() : 0; }

const char *dg_session_property_name(const dg_session *session, size_t index) {
  if (index >= dg_session_property_count(session))
    return nullptr;
  return std::next(session->session->properties().begin(), ptrdiff_t(index))->first.c_str();
}

dg_status dg_session_prepare(dg_session *session, const dg_tensor *inputs, size_t count) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = llvm::joinErrors(require(session, "session"), check_inputs(inputs, count, false)))
      return error;
    std::lock_guard lock(session->running);
    return session->session->prepare(shapes_of(inputs, count)).takeError();
  });
}

dg_status dg_session_run(dg_session *session, const dg_tensor *inputs, size_t count, dg_outputs **outputs) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error =
            llvm::joinErrors(require(session, "session"), llvm::joinErrors(require(outputs, "outputs"), check_inputs(inputs, count, true))))
      return error;
    std::map<std::string, Tensor> tensors;
    for (size_t i = 0; i < count; ++i) {
      auto type = type_of(inputs[i]);
      if (!type)
        return type.takeError();
      Tensor tensor(*type, {inputs[i].shape, inputs[i].shape + inputs[i].rank});
      if (!tensor.bytes.empty())
        std::memcpy(tensor.bytes.data(), inputs[i].data, tensor.bytes.size());
      if (!tensors.emplace(inputs[i].name, std::move(tensor)).second)
        return fail(Status::Invalid, "input '{}' is given twice", inputs[i].name);
    }
    std::lock_guard lock(session->running);
    auto results = session->session->run(tensors);
    if (!results)
      return results.takeError();
    session->ran = true;
    auto made = std::make_unique<dg_outputs>();
    for (const models::SessionPort &port : session->session->outputs()) {
      made->names.push_back(port.name);
      made->tensors.push_back(std::move(results->at(port.name)));
    }
    *outputs = made.release();
    return llvm::Error::success();
  });
}

size_t dg_outputs_count(const dg_outputs *outputs) { return outputs ? outputs->tensors.size() : 0; }

dg_status dg_outputs_get(const dg_outputs *outputs, size_t index, dg_tensor *output) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = llvm::joinErrors(require(outputs, "outputs"), require(output, "output")))
      return error;
    if (index >= outputs->tensors.size())
      return fail(Status::Invalid, "output {} of {}", index, outputs->tensors.size());
    const Tensor &tensor = outputs->tensors[index];
    *output = {outputs->names[index].c_str(), dg_element_type(tensor.type), int32_t(tensor.shape.size()), tensor.shape.data(),
               const_cast<uint8_t *>(tensor.bytes.data())};
    return llvm::Error::success();
  });
}

void dg_outputs_free(dg_outputs *outputs) { delete outputs; }

dg_status dg_session_report(const dg_session *session, const char *format, char **report) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error =
            llvm::joinErrors(require(session, "session"), llvm::joinErrors(require(format, "format"), require(report, "report"))))
      return error;
    if (!session->ran)
      return fail(Status::Invalid, "there is no report before the first run");
    if (llvm::Error error = check_format(format))
      return error;
    *report =
        api::copied(std::string_view(format) == "json" ? session->session->report().json().dump() : session->session->report().text());
    return llvm::Error::success();
  });
}

dg_status dg_session_explain(dg_session *session, const dg_tensor *inputs, size_t count, const char *format, char **explanation) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error =
            llvm::joinErrors(require(session, "session"), llvm::joinErrors(require(format, "format"), require(explanation, "explanation"))))
      return error;
    if (llvm::Error error = llvm::joinErrors(check_format(format), check_inputs(inputs, count, false)))
      return error;
    std::lock_guard lock(session->running);
    auto program = session->session->prepare(shapes_of(inputs, count));
    if (!program)
      return program.takeError();
    *explanation = api::copied(std::string_view(format) == "json" ? explain_json(**program, session->session->properties()).dump()
                                                                  : explain_text(**program, session->session->properties()));
    return llvm::Error::success();
  });
}

dg_status dg_session_save(dg_session *session, const char *path) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = llvm::joinErrors(require(session, "session"), require(path, "path")))
      return error;
    std::lock_guard lock(session->running);
    return session->session->save(path);
  });
}
