// Reserves address space with mmap; the kernel gives pages, large ones where it can, when they are written.
#include "runtime/host_memory.h"
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace dougong {

llvm::Expected<std::unique_ptr<HostMemory>> HostMemory::reserve(uint64_t bytes) {
  void *start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED)
    return fail(Status::OutOfMemory, "host: {} bytes of address space could not be reserved: {}", bytes, std::strerror(errno));
  madvise(start, bytes, MADV_HUGEPAGE);
  return std::unique_ptr<HostMemory>(new HostMemory(static_cast<uint8_t *>(start), bytes));
}

HostMemory::~HostMemory() { munmap(start, bytes); }

uint64_t physical_memory_bytes() { return uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE)); }

} // namespace dougong
