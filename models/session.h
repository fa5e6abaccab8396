// A model ready to run: what `dougong run`, the C API and Python hold.
//
// Opens an ONNX file or a `.dgx`. Checks inputs by name, type and shape; compiles one specialisation per set of input shapes
// when it first meets it, and keeps it, in memory and (for an ONNX file) on disk under $DOUGONG_CACHE or ~/.cache/dougong.
#pragma once
#include "runtime/artifact.h"
#include "runtime/executor.h"
#include "runtime/report.h"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dougong::models {

struct SessionOptions {
  std::string device = "npu";    // "npu", "cpu", or "auto": whichever suits each operator
  std::string machine = "phone"; // the NPU's, a shipped name or a file
  bool timing = false;           // the NPU's model keeps time
  bool check_memory = false;     // the NPU's model looks for reads of on-chip memory that nothing has written
  bool check_races = false;      // the NPU's model looks for races on on-chip memory
  int cores = 0;                 // of the NPU; 0: all it has
  std::string trace;             // a file for a timeline of the NPU's cores and engines; needs timing
  unsigned threads = 0;          // of the CPU; 0: all it has
  bool cache = true;             // look for compiled artifacts on disk, and leave them there
  // Said while something takes time: "compiling kernel 12 of 80", "running step 3 of 80". May be empty.
  std::function<void(const std::string &)> progress;
};

// An input or output of the model. A dimension that the model leaves open is -1 and may have a name.
struct SessionPort {
  std::string name;
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  std::vector<std::string> dimension_names; // "" where it has none
};

class Session {
public:
  static llvm::Expected<std::unique_ptr<Session>> open(const std::string &path, const SessionOptions &options = {});
  virtual ~Session() = default;

  virtual const std::vector<SessionPort> &inputs() const = 0;
  virtual const std::vector<SessionPort> &outputs() const = 0;
  virtual const std::map<std::string, std::string> &properties() const = 0; // as Model::properties

  // Compiles (or finds) the specialisation for these shapes; inputs of fixed shape may be left out. Valid while the session lives.
  virtual llvm::Expected<const Specialisation *> prepare(const std::map<std::string, std::vector<int64_t>> &shapes) = 0;
  // Every input by name; every output by name.
  virtual llvm::Expected<std::map<std::string, Tensor>> run(const std::map<std::string, Tensor> &inputs) = 0;
  virtual const RunReport &report() const = 0;           // of the last run
  virtual llvm::Error save(const std::string &path) = 0; // all specialisations prepared so far, as .dgx
};

} // namespace dougong::models
