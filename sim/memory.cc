#include "sim/memory.h"
#include <cstring>
#include <fmt/format.h>
#include <stdexcept>
#include <sys/mman.h>

namespace dougong::sim {

GlobalMemory::GlobalMemory(uint64_t bytes) : byte_count(bytes) {
  void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw std::runtime_error(
        fmt::format("cannot reserve {} GiB of address space for the device's DRAM; `ulimit -v` may be too low", bytes >> 30));
  bytes_base = static_cast<uint8_t *>(at);
}

GlobalMemory::~GlobalMemory() { munmap(bytes_base, byte_count); }

void GlobalMemory::clear(uint64_t address, uint64_t size) {
  constexpr uint64_t page = 4096;
  uint64_t first = (address + page - 1) / page * page, last = (address + size) / page * page;
  if (first >= last) {
    std::memset(host(address), 0, size);
    return;
  }
  std::memset(host(address), 0, first - address);
  madvise(host(first), last - first, MADV_DONTNEED);
  std::memset(host(last), 0, address + size - last);
}

void GlobalMemory::map(uint64_t address, uint64_t size, std::string name) {
  if (!inside(address, size))
    throw std::invalid_argument(fmt::format("{} ({} bytes at {:#x}) is outside DRAM, [{:#x}, {:#x})", name, size, address, DG_DRAM_BASE,
                                            DG_DRAM_BASE + byte_count));
  if (size == 0)
    return;
  auto above = regions.upper_bound(address);
  if (above != regions.end() && above->second.begin < address + size)
    throw std::invalid_argument(
        fmt::format("{} ({} bytes at {:#x}) overlaps {} at {:#x}", name, size, address, above->second.name, above->second.begin));
  if (above != regions.begin() && std::prev(above)->second.end() > address)
    throw std::invalid_argument(fmt::format("{} ({} bytes at {:#x}) overlaps {} at {:#x}", name, size, address,
                                            std::prev(above)->second.name, std::prev(above)->second.begin));
  regions[address] = {address, size, std::move(name)};
}

void GlobalMemory::unmap(uint64_t address) { regions.erase(address); }

const Region *GlobalMemory::find(uint64_t address) const {
  auto above = regions.upper_bound(address);
  if (above == regions.begin())
    return nullptr;
  const Region &region = std::prev(above)->second;
  return address < region.end() ? &region : nullptr;
}

const Region *GlobalMemory::find(uint64_t address, uint64_t size) const {
  const Region *region = find(address);
  return region && region->holds(address, size) ? region : nullptr;
}

uint64_t GlobalMemory::next_mapped(uint64_t address) const {
  auto at = regions.lower_bound(address);
  return at == regions.end() ? DG_DRAM_BASE + byte_count : at->first;
}

std::string GlobalMemory::describe(uint64_t address) const {
  if (address < 0x1000)
    return "a null pointer";
  auto above = regions.upper_bound(address);
  std::string text;
  if (above != regions.begin()) {
    const Region &below = std::prev(above)->second;
    if (address < below.end())
      return fmt::format("in {} [{:#x}, {:#x}), but the access runs over its end", below.name, below.begin, below.end());
    text = fmt::format("{} bytes past the end of {} [{:#x}, {:#x})", address - below.end(), below.name, below.begin, below.end());
  }
  if (above != regions.end())
    text += fmt::format("{}{} bytes before {} [{:#x}, {:#x})", text.empty() ? "" : ", ", above->second.begin - address, above->second.name,
                        above->second.begin, above->second.end());
  return text.empty() ? "nothing is mapped" : text;
}

} // namespace dougong::sim
