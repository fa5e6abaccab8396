// A compiled model: `model.dgx` in memory and on disk.
//
// The file, all numbers little-endian:
//
//   0    "DGX\n" , u32 version , u64 file bytes , u64 offset , u64 bytes and u64 xxh3 of the description
//   4096 the constants, then the images, each starting at a multiple of 4096 (so that the file can be mapped), then the description
//
// The description is CBOR: the structures below, field by field under their own names (`artifact.cc`); it has an xxh3 of each
// other part. Loading checks the hashes and everything that a launch relies on (sizes, offsets, indices, types): a
// truncated, garbled or foreign file is an error that says what is wrong.
#pragma once
#include "runtime/element_type.h"
#include "runtime/status.h"
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dougong {

enum class Target : uint8_t { Npu, Cpu };

// One set of concrete input shapes, compiled.
struct Specialisation {
  struct Image {
    Target target = Target::Npu;
    std::string bytes; // as CompiledModule::image
  };
  struct Kernel {
    std::string name;   // symbol in the image
    uint32_t image = 0; // index in `images`
    std::array<uint64_t, 3> grid{};
    uint32_t arguments = 0;                                         // launch slots
    uint64_t tensor_macs = 0, vector_macs = 0, vector_elements = 0; // as in compiler/kernel.h, of one launch
    uint64_t compulsory_bytes = 0;
    std::string tile;                            // for people: "1x8x80x32 of 1x80x80x64", or what the local buffers are
    std::map<std::string, uint64_t> local_bytes; // buffer → bytes of LM or ACC at the peak
  };
  // A place that a kernel reads or writes. Reshapes are further buffers at the same place.
  struct Buffer {
    enum class Region : uint8_t { Arena, Constant, Input, Output } region = Region::Arena;
    uint64_t offset = 0; // in the arena or the constants, a multiple of 128; for Input and Output: the index of the port
    uint64_t bytes = 0;
    ElementType type = ElementType::F32;
    std::vector<int64_t> shape;
  };
  struct Port { // of the model: row-major, dense
    std::string name;
    ElementType type = ElementType::F32;
    std::vector<int64_t> shape;
    uint64_t bytes() const { return element_count(shape) * size_in_bytes(type); }
  };
  // One launch. Steps run in order.
  struct Step {
    uint32_t kernel = 0;
    std::vector<uint32_t> buffers;  // one a launch slot: indices in `buffers`, passed as pointers
    std::string name;               // a short name for reports: "Conv_12+Clip_14"
    std::vector<std::string> nodes; // the ONNX nodes it does, as "Conv 'Conv_12'"
    std::string reason;             // why it runs on the CPU although an NPU was wanted; else empty
  };

  std::vector<Image> images;
  std::vector<Kernel> kernels;
  std::vector<Buffer> buffers;
  std::vector<Port> inputs, outputs;
  std::vector<Step> steps;
  uint64_t arena_bytes = 0;

  Target target(const Step &step) const { return images[kernels[step.kernel].image].target; }
};

struct Artifact {
  static constexpr uint32_t version = 1;

  std::string model;   // the model's name, for reports
  std::string machine; // the machine the NPU's images are for; empty if none is for an NPU
  std::string host;    // what the CPU's images need (`host_features()`); empty if none is for the CPU
  // What the ONNX file says of itself: its metadata, and "onnx.opset" and its kin (models/model.h).
  std::map<std::string, std::string> properties;
  // Of the model's inputs and outputs, by name: what the ONNX file calls their dimensions ("" where it has no name).
  std::map<std::string, std::vector<std::string>> dimension_names;
  std::vector<Specialisation> specialisations;

  // Weights and other constants of all specialisations. Adding bytes that are there already gives the place they have.
  uint64_t add_constant(std::span<const uint8_t> bytes);
  std::span<const uint8_t> constants() const;

  // A whole file, written under another name first and then renamed: nobody sees half of it.
  llvm::Error save(const std::string &path) const;
  static llvm::Expected<Artifact> load(const std::string &path); // maps the file; constants stay in it
  // What load() checks beyond the file's form; an artifact made by a compiler wants it too. `where` begins the message.
  llvm::Error validate(std::string_view where) const;

private:
  std::vector<uint8_t> own_constants;
  std::multimap<uint64_t, std::pair<uint64_t, uint64_t>> known_constants; // hash → offset, bytes
  std::shared_ptr<const void> file;                                       // keeps `mapped_constants`
  std::span<const uint8_t> mapped_constants;
};

// The vector features of this host that compiled code may depend on, sorted: "avx avx2 avx512f …".
std::string host_features();

} // namespace dougong
