// See model_arguments.h.
#include "tools/model_arguments.h"
#include <charconv>
#include <fmt/ranges.h>

namespace dougong {

void add_compile_options(CLI::App &app, models::SessionOptions &options) {
  app.add_option("--device", options.device, "npu, cpu, or auto: whichever suits each operator")
      ->check(CLI::IsMember({"npu", "cpu", "auto"}))
      ->capture_default_str();
  app.add_option("--machine", options.machine, "the NPU's machine: a name that `dougong devices` lists, or a file")->capture_default_str();
  app.add_option("--threads", options.threads, "threads of the CPU to use")->check(CLI::Range(1, 1024));
  app.add_flag_callback("--no-cache", [&options] { options.cache = false; }, "compile anew, and leave nothing in the cache");
}

void add_session_options(CLI::App &app, models::SessionOptions &options) {
  add_compile_options(app, options);
  app.add_flag("--timing", options.timing, "the NPU's model keeps time: cycles, stalls, energy");
  app.add_flag("--check-races", options.check_races, "the NPU's model finds accesses to on-chip memory that no wait orders (slower)");
  app.add_flag("--check-memory", options.check_memory, "the NPU's model finds reads of on-chip memory that nothing has written (slower)");
  app.add_option("--cores", options.cores, "cores of the NPU to use")->check(CLI::PositiveNumber);
}

llvm::Expected<std::pair<std::string, std::string>> split_assignment(const std::string &text, const char *what) {
  size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return fail(Status::Invalid, "'{}': this wants {}", text, what);
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

namespace {

llvm::Expected<std::pair<std::string, std::vector<int64_t>>> parse_shape(const std::string &text) {
  auto parts = split_assignment(text, "NAME=SHAPE, such as x=1x3x640x640");
  if (!parts)
    return parts.takeError();
  std::vector<int64_t> shape;
  const char *at = parts->second.data(), *end = at + parts->second.size();
  for (;;) {
    int64_t extent = 0;
    auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || extent < 0 || (next != end && *next != 'x'))
      return fail(Status::Invalid, "'{}': '{}' is no shape; a shape is whole numbers with x between them, such as 1x3x640x640", text,
                  parts->second);
    shape.push_back(extent);
    if (next == end)
      return std::pair(parts->first, shape);
    at = next + 1;
  }
}

} // namespace

llvm::Expected<std::vector<std::map<std::string, std::vector<int64_t>>>> parse_shape_sets(const std::vector<std::string> &texts) {
  std::map<std::string, std::vector<std::vector<int64_t>>> given;
  size_t count = 1;
  for (const std::string &text : texts) {
    auto shape = parse_shape(text);
    if (!shape)
      return shape.takeError();
    auto &list = given[shape->first];
    list.push_back(std::move(shape->second));
    count = std::max(count, list.size());
  }
  std::vector<std::map<std::string, std::vector<int64_t>>> sets(count);
  for (auto &[name, list] : given) {
    if (list.size() != 1 && list.size() != count)
      return fail(Status::Invalid,
                  "--shape: '{}' is given {} times, another input {} times; give each once, or once for each set of shapes", name,
                  list.size(), count);
    for (size_t i = 0; i < count; ++i)
      sets[i][name] = list[list.size() == 1 ? 0 : i];
  }
  return sets;
}

llvm::Expected<std::map<std::string, std::vector<int64_t>>> parse_shapes(const std::vector<std::string> &texts) {
  auto sets = parse_shape_sets(texts);
  if (!sets)
    return sets.takeError();
  if (sets->size() > 1)
    return fail(Status::Invalid, "--shape: an input is given more than one shape; one run takes one");
  return std::move(sets->front());
}

llvm::Error check_choice(const CLI::App &app, const std::string &model, const models::SessionOptions &options) {
  auto given = [&](const char *name) {
    const CLI::Option *option = app.get_option_no_throw(name);
    return option && option->count();
  };
  bool compiled = std::string_view(model).ends_with(".dgx");
  for (const char *option : {"--device", "--machine"})
    if (compiled && given(option))
      return fail(Status::Invalid, "{} cannot be given for '{}': a .dgx runs on what it was compiled for", option, model);
  for (const char *option : {"--machine", "--timing", "--check-races", "--check-memory", "--cores", "--trace"})
    if (options.device == "cpu" && given(option))
      return fail(Status::Invalid, "{} is of the NPU, and with --device cpu nothing runs there; leave one of the two out", option);
  return llvm::Error::success();
}

int report_failure(const char *subcommand, llvm::Error error) {
  auto [code, text] = explain(std::move(error));
  std::fprintf(stderr, "dougong %s: %s\n", subcommand, text.c_str());
  return exit_status(code);
}

std::string port_text(const models::SessionPort &port) {
  std::vector<std::string> extents;
  for (size_t d = 0; d < port.shape.size(); ++d)
    extents.push_back(port.shape[d] >= 0                                                    ? std::to_string(port.shape[d])
                      : d < port.dimension_names.size() && !port.dimension_names[d].empty() ? port.dimension_names[d]
                                                                                            : "?");
  return fmt::format("{} {} [{}]", port.name, name(port.type), fmt::join(extents, ", "));
}

llvm::Expected<std::vector<int64_t>> concrete_shape(const models::SessionPort &port,
                                                    const std::map<std::string, std::vector<int64_t>> &shapes) {
  auto given = shapes.find(port.name);
  bool open = std::any_of(port.shape.begin(), port.shape.end(), [](int64_t extent) { return extent < 0; });
  if (given == shapes.end()) {
    if (open)
      return fail(Status::Invalid, "input {} leaves dimensions open; say which with --shape {}=…", port_text(port), port.name);
    return port.shape;
  }
  bool fits = given->second.size() == port.shape.size();
  for (size_t d = 0; fits && d < port.shape.size(); ++d)
    fits = port.shape[d] < 0 || port.shape[d] == given->second[d];
  if (!fits)
    return fail(Status::Invalid, "--shape {}={}: the model's input is {}", port.name, shape_text(given->second), port_text(port));
  return given->second;
}

} // namespace dougong
