// Where the time, the bytes and the energy of a run went: as a structure, as text for people, and as JSON.
//
// Each fused operator is set against the machine's roofs: the least time its multiply-adds, its vector operations and its
// compulsory bytes can take. The largest is its bound; "of roof" is bound / measured time, 100% at best.
#pragma once
#include "runtime/executor.h"
#include <nlohmann/json_fwd.hpp>
#include <span>

namespace dougong {

struct Machine;

enum class Roof : uint8_t { TensorPeak, VectorPeak, Dram, L2, Host }; // Host: it ran on the CPU
std::string_view name(Roof roof);

nlohmann::json to_json(const Statistics &statistics);

struct StepReport {
  std::string name;
  std::vector<std::string> nodes;
  Target target = Target::Npu;
  std::string reason; // why on the CPU
  std::string tile;
  uint64_t macs = 0; // of the algorithm
  uint64_t compulsory_bytes = 0;
  double seconds = 0; // on the NPU by its clock (timing mode), else by the host's
  Roof roof = Roof::Host;
  double bound_seconds = 0; // 0 where there is no roof (CPU, functional mode)
  Statistics statistics;
};

struct RunReport {
  std::string model, device;
  std::map<std::string, std::string> properties; // Artifact::properties
  bool timed = false;
  double seconds = 0;       // latency: the NPU's time in timing mode plus the CPU's by the host's clock
  double bound_seconds = 0; // sum of the NPU steps' bounds
  double npu_seconds = 0, cpu_seconds = 0;
  uint64_t npu_macs = 0, cpu_macs = 0; // of the algorithm, by where they ran
  Statistics npu;                      // sum over the NPU's steps
  std::vector<StepReport> steps;       // in the order they ran

  // `machine` is the NPU's, or null if there was none.
  static RunReport make(const Artifact &artifact, const Specialisation &program, const RunProfile &profile, const Machine *machine,
                        std::string device);
  std::string text(size_t slowest = 10) const;
  nlohmann::json json() const;
};

} // namespace dougong
