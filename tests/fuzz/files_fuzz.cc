// What people hand over as files, damaged: machine descriptions, .npy arrays, compiled models, ONNX models, kernels of the operator
// language.
//
//   fuzz_files [--seed N] [--first N] [--count N] FILE...      .toml, .npy, .dgx, .onnx, .py (every kernel in it, with some signatures)
//
// Each is read, or refused with a message; what an ONNX model and a kernel become is only looked at by the reader, not run.
#include "api/kernel_source.h"
#include "machines/machine.h"
#include "models/import.h"
#include "models/model_error.h"
#include "runtime/artifact.h"
#include "tests/fuzz/inputs.h"
#include "tests/fuzz/message_edits.h"
#include "tools/npy.h"
#include <filesystem>
#include <map>

using namespace dougong;
using namespace dougong::fuzz;

namespace {

void expect_text(const std::string &message) {
  if (message.size() < 3) // short where a damaged name has a zero byte in it
    wrong("a refusal without a message: '" + message + "'");
}

template <typename T> void expect_value_or_text(llvm::Expected<T> result) {
  if (!result)
    expect_text(llvm::toString(result.takeError()));
}

// Text with numbers, words and lines changed, beyond what happens to its bytes.
std::string mutated_text(std::string text, Random &random) {
  static const char *const words[] = {"0",          "-1",
                                      "1e400",      "99999999999999999999",
                                      "1073741824", "nan",
                                      "''",         "\"",
                                      "(",          ")",
                                      "[",          "]",
                                      ":",          "=",
                                      "\n",         "\t",
                                      "    ",       "#",
                                      "not ",       "tl.",
                                      "None",       "3.5",
                                      ",",          "\xff",
                                      "lambda: ",   "for i in range(5):",
                                      "**"};
  for (uint64_t changes = 1 + below(random, 3); changes > 0 && !text.empty(); --changes) {
    size_t at = below(random, text.size());
    switch (below(random, 5)) {
    case 0:
      text.insert(at, words[below(random, std::size(words))]);
      break;
    case 1: { // one word of the text for another
      size_t from = text.find_first_of("0123456789abcdefghijklmnopqrstuvwxyz_", at),
             to = text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz_.", from);
      if (from != text.npos)
        text.replace(from, to == text.npos ? to : to - from, words[below(random, std::size(words))]);
      break;
    }
    case 2: { // a line once more, or not at all
      size_t begin = text.rfind('\n', at), end = text.find('\n', at);
      if (begin != text.npos && end != text.npos && begin < end)
        one_in(random, 2) ? (void)text.insert(end, text.substr(begin, end - begin)) : (void)text.erase(begin, end - begin);
      break;
    }
    case 3:
      for (uint64_t depth = one_in(random, 10) ? 20000 : 3; depth > 0; --depth)
        text.insert(at, one_in(random, 2) ? "(" : "-");
      break;
    default:
      text = mutated(text, random);
    }
  }
  return text;
}

void write(const std::string &path, const std::string &bytes) { std::ofstream(path, std::ios::binary) << bytes; }

void machine(const std::string &bytes, Random &random) {
  write("machine.toml", mutated_text(bytes, random));
  try {
    Machine::load("./machine.toml");
  } catch (const MachineError &error) {
    expect_text(error.what());
  }
}

void array(const std::string &bytes, Random &random) {
  write("array.npy", mutated(bytes, random, 128));
  expect_value_or_text(read_npy("array.npy"));
}

// Almost every change is stopped by the hash of the part it is in.
void artifact(const std::string &bytes, Random &random) {
  write("model.dgx", mutated(bytes, random, 64));
  expect_value_or_text(Artifact::load("model.dgx"));
}

std::string edited(const std::string &bytes, Random &random) {
  onnx::ModelProto message;
  message.ParseFromString(bytes);
  edit(&message, random);
  return message.SerializeAsString();
}

void model(const std::string &bytes, Random &random) {
  try {
    models::Model model = models::Model::parse(one_in(random, 3) ? mutated(bytes, random) : edited(bytes, random), "model.onnx", ".");
    std::map<std::string, models::Shape> shapes;
    for (const models::Interface &input : model.inputs)
      for (models::Shape &shape = shapes[input.name] = input.shape; int64_t &extent : shape)
        extent = extent < 0 ? 2 : extent;
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.getDiagEngine().registerHandler([](mlir::Diagnostic &) { return mlir::success(); });
    models::import_model(model, shapes, {}, context);
  } catch (const models::ModelError &error) {
    expect_text(error.what());
  } catch (const models::NeedsInputValues &error) {
    expect_text(error.what());
  }
}

void kernel(const std::string &text, Random &random) {
  static const char *const signatures[] = {
      "*fp32, *fp32, *fp32, i32, BLOCK=1024", "*fp16, *i32, *fp32, 7, 64", "*fp32, *fp32, i32, i32, i32, BLOCK=128", "", "i1, ,=,*",
      "*fp32:16, 'a', None, True, -0.5"};
  KernelSource source{"kernel.py", mutated_text(text, random), "",
                      language::Signature::parse(signatures[below(random, std::size(signatures))])};
  for (const std::string &name : language::functionsOf(source.file_name, source.text)) {
    source.function = name;
    expect_value_or_text(tile_form_of(source));
  }
  source.function = "nothing";
  expect_value_or_text(tile_form_of(source));
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments(argc, argv);
  static const std::map<std::string, void (*)(const std::string &, Random &)> readers = {
      {".toml", machine}, {".npy", array}, {".dgx", artifact}, {".onnx", model}, {".py", kernel}};
  std::vector<std::pair<void (*)(const std::string &, Random &), std::string>> files;
  for (const std::string &path : arguments.others) {
    auto reader = readers.find(std::filesystem::path(path).extension());
    if (reader == readers.end()) {
      std::fprintf(stderr, "'%s' is of no kind that is read here: .toml, .npy, .dgx, .onnx, .py\n", path.c_str());
      return 2;
    }
    files.push_back({reader->second, read_file(path)});
  }
  if (files.empty()) {
    std::fprintf(stderr, "usage: fuzz_files [--seed N] [--first N] [--count N] FILE...\n");
    return 2;
  }
  char folder[] = "/tmp/dougong-fuzz-XXXXXX";
  if (!mkdtemp(folder) || chdir(folder) != 0)
    return 2;
  run_inputs(arguments, 60, [&](Random &random) {
    const auto &[reader, bytes] = files[below(random, files.size())];
    reader(bytes, random);
  });
  std::filesystem::current_path("/");
  std::filesystem::remove_all(folder);
  std::fprintf(stderr, "%llu inputs of %zu files\n", static_cast<unsigned long long>(arguments.count), files.size());
  return 0;
}
