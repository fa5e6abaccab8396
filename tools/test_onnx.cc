// `dougong test-onnx DIR…`: runs cases in the layout of ONNX's backend tests, model.onnx beside
// test_data_set_*/{input,output}_*.pb, and says of each that failed or was skipped why. Last line: N passed, N failed, N skipped.
//
// Cases run in child processes, so that a crash or a hang is one failure and the rest goes on.
#include "models/host_tensor.h"
#include "models/model.h"
#include "models/model_error.h"
#include "tools/guarded_cases.h"
#include "tools/model_arguments.h"
#include <cmath>
#include <filesystem>
#include <set>
#include <thread>

using namespace dougong;
using models::SessionPort;
namespace fs = std::filesystem;

namespace {

struct Arguments {
  std::vector<std::string> folders;
  double rtol = 1e-3, atol = 1e-7; // what ONNX's own runner uses
  int seconds = 60;                // a case may take
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());
  bool verbose = false;
};

// ---- one case -------------------------------------------------------------------------------------------------------

// "" if they agree within |got - expected| <= atol + rtol * |expected|; NaN agrees with NaN.
std::string difference(const Tensor &got, const Tensor &expected, const Arguments &arguments) {
  if (got.type != expected.type)
    return fmt::format("type {}, expected {}", name(got.type), name(expected.type));
  if (got.shape != expected.shape)
    return fmt::format("shape {}, expected {}", shape_text(got.shape), shape_text(expected.shape));
  // Some of ONNX's bfloat16 data was made by truncation, some by rounding: one unit in the last place apart.
  double rtol = got.type == ElementType::BF16 ? std::max(arguments.rtol, 0x1p-7) : arguments.rtol;
  int64_t count = element_count(got.shape), wrong = 0, first = 0;
  for (int64_t i = 0; i < count; ++i) {
    double a = models::real_at(got, i), b = models::real_at(expected, i);
    bool good = a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= arguments.atol + rtol * std::fabs(b);
    if (!good && !wrong++)
      first = i;
  }
  if (!wrong)
    return "";
  return fmt::format("{} of {} elements differ, the first at {}: {:g}, expected {:g}", wrong, count, first, models::real_at(got, first),
                     models::real_at(expected, first));
}

std::vector<Tensor> load_numbered(const fs::path &folder, const std::string &stem) {
  std::vector<Tensor> tensors;
  for (int i = 0; fs::exists(folder / fmt::format("{}_{}.pb", stem, i)); ++i)
    tensors.push_back(models::load_tensor_file((folder / fmt::format("{}_{}.pb", stem, i)).string()));
  return tensors;
}

// ONNX's data files hold bfloat16 as the uint16 of its bits: the model says which it is.
void take_type(Tensor &data, ElementType of_model) {
  if (data.type == ElementType::U16 && of_model == ElementType::BF16)
    data.type = ElementType::BF16;
}

// Some of ONNX's cases declare another shape than their data has.
bool contradicts(const Tensor &data, const SessionPort &port) {
  if (!data.shape.empty() && data.shape.size() != port.shape.size())
    return true;
  for (size_t d = 0; d < data.shape.size(); ++d)
    if (port.shape[d] >= 0 && port.shape[d] != data.shape[d])
      return true;
  return false;
}

// "" if the outputs are as they should be.
std::string run_data_set(models::Session &session, const fs::path &folder, const Arguments &arguments, Status &code) {
  std::vector<Tensor> given = load_numbered(folder, "input"), expected = load_numbered(folder, "output");
  if (given.size() > session.inputs().size())
    return fmt::format("{} inputs for a model of {}", given.size(), session.inputs().size());
  std::map<std::string, Tensor> inputs;
  for (size_t i = 0; i < given.size(); ++i) {
    const SessionPort &port = session.inputs()[i];
    take_type(given[i], port.type);
    if (contradicts(given[i], port)) {
      code = Status::Unsupported;
      return fmt::format("the case contradicts itself: its model declares {}, its data has the shape {}", port_text(port),
                         shape_text(given[i].shape));
    }
    inputs[session.inputs()[i].name] = std::move(given[i]);
  }
  auto outputs = session.run(inputs);
  if (!outputs) {
    std::string text;
    std::tie(code, text) = explain(outputs.takeError());
    return text;
  }
  for (size_t i = 0; i < expected.size() && i < session.outputs().size(); ++i) {
    const std::string &name = session.outputs()[i].name;
    take_type(expected[i], session.outputs()[i].type);
    std::string what = difference(outputs->at(name), expected[i], arguments);
    if (!what.empty())
      return fmt::format("output '{}': {}", name, what);
  }
  return "";
}

CaseOutcome run_case(const fs::path &folder, const Arguments &arguments, const models::SessionOptions &options) {
  Status code = Status::Invalid;
  std::string why;
  try {
    auto session = models::Session::open((folder / "model.onnx").string(), options);
    if (!session) {
      std::tie(code, why) = explain(session.takeError());
    } else {
      std::set<fs::path> sets;
      for (const fs::directory_entry &entry : fs::directory_iterator(folder))
        if (entry.path().filename().string().starts_with("test_data_set_"))
          sets.insert(entry.path());
      if (sets.empty())
        why = "no test_data_set_* beside the model";
      for (const fs::path &set : sets)
        if (why = run_data_set(**session, set, arguments, code); !why.empty())
          break;
    }
  } catch (const models::ModelError &error) { // a data file
    code = error.status, why = error.what();
  }
  std::replace(why.begin(), why.end(), '\n', ' ');
  return {why.empty() ? 'p' : code == Status::Unsupported ? 's' : 'f', why};
}

// ---- all cases ------------------------------------------------------------------------------------------------------

std::vector<fs::path> find_cases(const std::vector<std::string> &folders) {
  std::set<fs::path> found;
  for (const std::string &folder : folders) {
    if (fs::exists(fs::path(folder) / "model.onnx")) {
      found.insert(folder);
      continue;
    }
    std::error_code code;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder, code))
      if (fs::exists(entry.path() / "model.onnx"))
        found.insert(entry.path());
  }
  return {found.begin(), found.end()};
}

class Tally {
public:
  Tally(const std::vector<fs::path> &cases, bool verbose) : cases(cases), verbose(verbose) {}

  void add(size_t index, const CaseOutcome &outcome) {
    std::string name = cases[index].filename().string();
    (outcome.kind == 'p' ? passed : outcome.kind == 's' ? skipped : failed)++;
    if (outcome.kind != 'p')
      std::printf("%s %s: %s\n", outcome.kind == 's' ? "skipped" : "FAILED", name.c_str(), outcome.why.c_str());
    else if (verbose)
      std::printf("passed %s\n", name.c_str());
    std::fflush(stdout);
    progress(fmt::format("{} of {} cases", index + 1, cases.size()));
  }
  int finish() const {
    std::printf("%zu passed, %zu failed, %zu skipped\n", passed, failed, skipped);
    return failed ? 1 : 0;
  }

private:
  const std::vector<fs::path> &cases;
  bool verbose;
  size_t passed = 0, failed = 0, skipped = 0;
  Progress progress;
};

} // namespace

int test_onnx_main(int argc, char **argv) {
  CLI::App app("Runs cases in the layout of ONNX's backend tests.");
  Arguments arguments;
  models::SessionOptions options;
  options.device = "auto";
  app.add_option("DIR", arguments.folders, "a case (model.onnx and test_data_set_*), or a folder of cases")->required();
  app.add_option("--rtol", arguments.rtol, "relative tolerance")->capture_default_str();
  app.add_option("--atol", arguments.atol, "absolute tolerance")->capture_default_str();
  app.add_option("--time-limit", arguments.seconds, "seconds a case may take")->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--jobs", arguments.jobs, "cases to run at a time")->check(CLI::Range(1, 256))->capture_default_str();
  app.add_flag("--verbose", arguments.verbose, "a line for each that passed, too");
  add_session_options(app, options);
  options.cache = false;
  if (auto status = parse_arguments(app, argc, argv))
    return *status;
  std::vector<fs::path> cases = find_cases(arguments.folders);
  if (cases.empty()) {
    std::fprintf(stderr, "dougong %s: %s: no case there; a case is a folder with model.onnx and test_data_set_*\n", argv[0],
                 arguments.folders[0].c_str());
    return 2;
  }
  Tally tally(cases, arguments.verbose);
  run_guarded(
      cases.size(), arguments.jobs, arguments.seconds, [&](size_t i) { return run_case(cases[i], arguments, options); },
      [&](size_t i, const CaseOutcome &outcome) { tally.add(i, outcome); });
  return tally.finish();
}
