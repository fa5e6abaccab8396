// Constants in a device's memory, each kept once however many executors use it: the specialisations of a model have their weights
// in common, and a model's weights are most of its memory.
#pragma once
#include "runtime/device.h"
#include <map>
#include <memory>
#include <span>

namespace dougong {

// Not for several threads at a time. Outlives nothing: what it gave stays valid without it.
class SharedConstants {
public:
  // Bytes that stand in `memory` as long as somebody holds them.
  class Constant {
  public:
    Constant(std::shared_ptr<Device> memory, uint64_t address, uint64_t bytes)
        : address(address), bytes(bytes), memory(std::move(memory)) {}
    Constant(const Constant &) = delete;
    ~Constant() { llvm::consumeError(memory->free(address)); }
    const uint64_t address, bytes;

  private:
    std::shared_ptr<Device> memory;
  };

  // The place of bytes equal to these: where they stand already, or a new one that gets a copy. Nobody may write there.
  llvm::Expected<std::shared_ptr<const Constant>> place(const std::shared_ptr<Device> &memory, std::span<const uint8_t> bytes);

private:
  using Key = std::pair<const Device *, uint64_t>; // device, hash of the bytes
  std::multimap<Key, std::weak_ptr<const Constant>> known;
};

} // namespace dougong
