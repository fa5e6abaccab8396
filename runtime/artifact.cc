// Reads, checks and writes `model.dgx` (the layout stands in artifact.h).
#include "runtime/artifact.h"
#include "runtime/new_file.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace dougong {
namespace {

using nlohmann::json;
constexpr uint64_t page = 4096, constant_alignment = 128;

struct Header {
  char magic[4] = {'D', 'G', 'X', '\n'};
  uint32_t version = Artifact::version;
  uint64_t file_bytes = 0, description_offset = 0, description_bytes = 0, description_hash = 0;
};
static_assert(sizeof(Header) == 40);

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }
uint64_t hash(std::span<const uint8_t> bytes) { return llvm::xxh3_64bits(llvm::ArrayRef(bytes.data(), bytes.size())); }
uint64_t hash(std::string_view bytes) { return llvm::xxh3_64bits(llvm::StringRef(bytes.data(), bytes.size())); }

constexpr const char *target_names[] = {"npu", "cpu"};
constexpr const char *region_names[] = {"arena", "constant", "input", "output"};

template <size_t N> unsigned index_of(const json &text, const char *const (&names)[N]) {
  for (unsigned i = 0; i < N; ++i)
    if (text.get_ref<const std::string &>() == names[i])
      return i;
  throw std::invalid_argument(fmt::format("'{}' is none of {}", text.get<std::string>(), fmt::join(names, ", ")));
}

ElementType type_of(const json &text) {
  if (auto type = element_type(text.get_ref<const std::string &>()))
    return *type;
  throw std::invalid_argument(fmt::format("'{}' is no element type", text.get<std::string>()));
}

// Where a part lies in the file.
json place(uint64_t offset, std::string_view bytes) { return {{"offset", offset}, {"bytes", bytes.size()}, {"hash", hash(bytes)}}; }

// ---- structures → description -------------------------------------------------------------------------------------

json to_json(const std::vector<Specialisation::Port> &ports) {
  json list = json::array();
  for (const auto &port : ports)
    list.push_back({{"name", port.name}, {"type", name(port.type)}, {"shape", port.shape}});
  return list;
}

json to_json(const Specialisation &s, const std::vector<uint64_t> &image_offsets) {
  json out{{"arena_bytes", s.arena_bytes}, {"inputs", to_json(s.inputs)}, {"outputs", to_json(s.outputs)}};
  json &images = out["images"] = json::array(), &kernels = out["kernels"] = json::array(), &buffers = out["buffers"] = json::array(),
       &steps = out["steps"] = json::array();
  for (size_t i = 0; i < s.images.size(); ++i) {
    images.push_back(place(image_offsets[i], s.images[i].bytes));
    images.back()["target"] = target_names[unsigned(s.images[i].target)];
  }
  for (const auto &k : s.kernels)
    kernels.push_back({{"name", k.name},
                       {"image", k.image},
                       {"grid", k.grid},
                       {"arguments", k.arguments},
                       {"tensor_macs", k.tensor_macs},
                       {"vector_macs", k.vector_macs},
                       {"vector_elements", k.vector_elements},
                       {"compulsory_bytes", k.compulsory_bytes},
                       {"tile", k.tile},
                       {"local_bytes", k.local_bytes}});
  for (const auto &b : s.buffers)
    buffers.push_back({{"region", region_names[unsigned(b.region)]},
                       {"offset", b.offset},
                       {"bytes", b.bytes},
                       {"type", name(b.type)},
                       {"shape", b.shape}});
  for (const auto &step : s.steps)
    steps.push_back(
        {{"kernel", step.kernel}, {"buffers", step.buffers}, {"name", step.name}, {"nodes", step.nodes}, {"reason", step.reason}});
  return out;
}

// ---- description → structures; json's exceptions and std::invalid_argument are caught in load() ---------------------

// Reports go out as JSON, whose writer refuses what is no UTF-8.
void check_texts(const json &value) {
  auto check = [](const std::string &text) {
    if (!llvm::json::isUTF8(text))
      throw std::invalid_argument("a text of its description is no UTF-8");
  };
  if (value.is_string())
    check(value.get_ref<const std::string &>());
  else if (value.is_object())
    for (const auto &[key, inner] : value.get_ref<const json::object_t &>())
      check(key), check_texts(inner);
  else if (value.is_array())
    for (const json &inner : value)
      check_texts(inner);
}

std::vector<Specialisation::Port> ports_of(const json &list) {
  std::vector<Specialisation::Port> ports;
  for (const json &port : list)
    ports.push_back({port.at("name").get<std::string>(), type_of(port.at("type")), port.at("shape").get<std::vector<int64_t>>()});
  return ports;
}

std::span<const uint8_t> part_of(const json &at, std::span<const uint8_t> file, std::string_view what) {
  uint64_t offset = at.at("offset").get<uint64_t>(), bytes = at.at("bytes").get<uint64_t>();
  if (offset > file.size() || bytes > file.size() - offset)
    throw std::invalid_argument(fmt::format("{} lies outside the file", what));
  auto part = file.subspan(offset, bytes);
  if (hash(part) != at.at("hash").get<uint64_t>())
    throw std::invalid_argument(fmt::format("{} does not have the hash that the description gives", what));
  return part;
}

Specialisation specialisation_of(const json &in, std::span<const uint8_t> file) {
  Specialisation s;
  s.arena_bytes = in.at("arena_bytes").get<uint64_t>();
  s.inputs = ports_of(in.at("inputs"));
  s.outputs = ports_of(in.at("outputs"));
  for (const json &image : in.at("images")) {
    auto bytes = part_of(image, file, "an image");
    s.images.push_back({Target(index_of(image.at("target"), target_names)), std::string(bytes.begin(), bytes.end())});
  }
  for (const json &k : in.at("kernels"))
    s.kernels.push_back({k.at("name"), k.at("image"), k.at("grid"), k.at("arguments"), k.at("tensor_macs"), k.at("vector_macs"),
                         k.at("vector_elements"), k.at("compulsory_bytes"), k.at("tile"), k.at("local_bytes")});
  for (const json &b : in.at("buffers"))
    s.buffers.push_back({Specialisation::Buffer::Region(index_of(b.at("region"), region_names)), b.at("offset"), b.at("bytes"),
                         type_of(b.at("type")), b.at("shape").get<std::vector<int64_t>>()});
  for (const json &step : in.at("steps"))
    s.steps.push_back({step.at("kernel"), step.at("buffers").get<std::vector<uint32_t>>(), step.at("name"),
                       step.at("nodes").get<std::vector<std::string>>(), step.at("reason")});
  return s;
}

// Bytes of a dense tensor, or nothing if the shape makes no sense.
std::optional<uint64_t> tensor_bytes(ElementType type, const std::vector<int64_t> &shape) {
  uint64_t bytes = size_in_bytes(type);
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, uint64_t(extent), &bytes) || bytes > uint64_t(1) << 46)
      return std::nullopt;
  return bytes;
}

// Fills up with zeros; returns where the next page begins.
uint64_t align_to_page(NewFile &out) {
  static constexpr uint8_t zeros[page]{};
  out.write(zeros, round_up(out.written(), page) - out.written());
  return out.written();
}

} // namespace

uint64_t Artifact::add_constant(std::span<const uint8_t> bytes) {
  if (file) { // loaded: take the constants over before they grow
    own_constants.assign(mapped_constants.begin(), mapped_constants.end());
    mapped_constants = {};
    file.reset();
  }
  uint64_t key = hash(bytes);
  for (auto [found, end] = known_constants.equal_range(key); found != end; ++found) {
    auto [offset, count] = found->second;
    if (count == bytes.size() && std::equal(bytes.begin(), bytes.end(), own_constants.begin() + offset))
      return offset;
  }
  uint64_t offset = round_up(own_constants.size(), constant_alignment);
  own_constants.resize(offset + bytes.size());
  std::copy(bytes.begin(), bytes.end(), own_constants.begin() + offset);
  known_constants.emplace(key, std::pair(offset, bytes.size()));
  return offset;
}

std::span<const uint8_t> Artifact::constants() const { return file ? mapped_constants : std::span<const uint8_t>(own_constants); }

llvm::Error Artifact::save(const std::string &path) const {
  NewFile out(path);
  if (!out.open())
    return fail(Status::Invalid, "{}: cannot be written: {}", path, std::strerror(errno));
  Header header;
  out.write(&header, sizeof header);
  std::span<const uint8_t> pool = constants();
  std::string_view pool_text(reinterpret_cast<const char *>(pool.data()), pool.size());
  json description{{"model", model},
                   {"machine", machine},
                   {"host", host},
                   {"properties", properties},
                   {"dimension_names", dimension_names},
                   {"constants", place(align_to_page(out), pool_text)}};
  out.write(pool.data(), pool.size());
  json &list = description["specialisations"] = json::array();
  for (const Specialisation &s : specialisations) {
    std::vector<uint64_t> offsets;
    for (const auto &image : s.images) {
      offsets.push_back(align_to_page(out));
      out.write(image.bytes.data(), image.bytes.size());
    }
    list.push_back(to_json(s, offsets));
  }
  std::vector<uint8_t> text = json::to_cbor(description);
  header.description_offset = align_to_page(out);
  header.description_bytes = text.size();
  header.description_hash = hash(std::span<const uint8_t>(text));
  header.file_bytes = header.description_offset + text.size();
  out.write(text.data(), text.size());
  out.rewind();
  out.write(&header, sizeof header);
  if (!out.commit())
    return fail(Status::Invalid, "{}: writing failed: {}", path, std::strerror(errno));
  return llvm::Error::success();
}

llvm::Expected<Artifact> Artifact::load(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail(Status::Invalid, "{}: {}", path, buffer.getError().message());
  std::shared_ptr<llvm::MemoryBuffer> owner = std::move(*buffer);
  std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t *>(owner->getBufferStart()), owner->getBufferSize());
  Header header, expected;
  if (bytes.size() < sizeof header || std::memcmp(bytes.data(), expected.magic, 4) != 0)
    return fail(Status::Invalid, "{}: not a Dougong artifact; `dougong compile MODEL.onnx -o {}` makes one", path, path);
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != version)
    return fail(Status::Invalid, "{}: an artifact of version {}, this program reads version {}; compile the model again", path,
                header.version, version);
  if (header.file_bytes != bytes.size())
    return fail(Status::Invalid, "{}: truncated or damaged: it has {} bytes and says it has {}; compile the model again", path,
                bytes.size(), header.file_bytes);
  if (header.description_offset > bytes.size() || header.description_bytes > bytes.size() - header.description_offset ||
      hash(bytes.subspan(header.description_offset, header.description_bytes)) != header.description_hash)
    return fail(Status::Invalid, "{}: damaged: its description does not have the hash that the header gives; compile the model again",
                path);
  Artifact artifact;
  try {
    json description = json::from_cbor(bytes.subspan(header.description_offset, header.description_bytes));
    check_texts(description);
    artifact.model = description.at("model");
    artifact.machine = description.at("machine");
    artifact.host = description.at("host");
    if (description.contains("properties")) // files written before there were any
      artifact.properties = description.at("properties").get<decltype(artifact.properties)>();
    if (description.contains("dimension_names"))
      artifact.dimension_names = description.at("dimension_names").get<decltype(artifact.dimension_names)>();
    artifact.mapped_constants = part_of(description.at("constants"), bytes, "the constants' part");
    for (const json &s : description.at("specialisations"))
      artifact.specialisations.push_back(specialisation_of(s, bytes));
  } catch (const std::exception &error) {
    return fail(Status::Invalid, "{}: damaged: {}; compile the model again", path, error.what());
  }
  artifact.file = std::move(owner);
  if (llvm::Error error = artifact.validate(path))
    return error;
  return artifact;
}

llvm::Error Artifact::validate(std::string_view where) const {
  auto wrong = [&](const std::string &what) { return fail(Status::Invalid, "{}: inconsistent artifact: {}", where, what); };
  uint64_t pool = constants().size();
  for (const Specialisation &s : specialisations) {
    for (const auto *ports : {&s.inputs, &s.outputs})
      for (const auto &port : *ports)
        if (!tensor_bytes(port.type, port.shape))
          return wrong(fmt::format("'{}' has the impossible shape {}", port.name, shape_text(port.shape)));
    for (const auto &kernel : s.kernels)
      if (kernel.image >= s.images.size())
        return wrong(fmt::format("kernel '{}' is of image {} of {}", kernel.name, kernel.image, s.images.size()));
    for (size_t i = 0; i < s.buffers.size(); ++i) {
      const auto &b = s.buffers[i];
      using Region = Specialisation::Buffer::Region;
      bool port = b.region == Region::Input || b.region == Region::Output;
      const auto &ports = b.region == Region::Input ? s.inputs : s.outputs;
      if (port && b.offset >= ports.size())
        return wrong(fmt::format("buffer {} is {} {} of {}", i, region_names[unsigned(b.region)], b.offset, ports.size()));
      uint64_t room = port ? ports[b.offset].bytes() : b.region == Region::Arena ? s.arena_bytes : pool;
      uint64_t offset = port ? 0 : b.offset;
      auto needed = tensor_bytes(b.type, b.shape);
      if (!needed || *needed > b.bytes || offset > room || b.bytes > room - offset || offset % constant_alignment)
        return wrong(fmt::format("buffer {} ({} bytes at {} for {} {}) does not fit the {}", i, b.bytes, offset, shape_text(b.shape),
                                 name(b.type), region_names[unsigned(b.region)]));
    }
    for (const auto &step : s.steps) {
      if (step.kernel >= s.kernels.size())
        return wrong(fmt::format("step '{}' runs kernel {} of {}", step.name, step.kernel, s.kernels.size()));
      if (step.buffers.size() != s.kernels[step.kernel].arguments)
        return wrong(fmt::format("step '{}' passes {} buffers to a kernel of {} arguments", step.name, step.buffers.size(),
                                 s.kernels[step.kernel].arguments));
      for (uint32_t buffer : step.buffers)
        if (buffer >= s.buffers.size())
          return wrong(fmt::format("step '{}' names buffer {} of {}", step.name, buffer, s.buffers.size()));
    }
  }
  return llvm::Error::success();
}

} // namespace dougong
