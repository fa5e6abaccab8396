// Runs what compiler/npu makes, as LLVM IR, on the host: the core is the host's processor, LM is mapped where the kernel
// expects it, and the engines are a few loops written after isa/commands.h alone.
//
// It also judges the waits. Commands run in an order of the caller's choice: each at once, each as late as a wait allows,
// or at random. Whatever the order, results must be the same; a missing wait shows as a difference.
#pragma once
#include "isa/commands.h"
#include "isa/machine_layout.h"
#include "tests/compiler/host_code.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/Module.h"
#include <cmath>
#include <cstring>
#include <deque>
#include <random>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace dougong {

enum class Order { AtOnce, AsLateAsPossible, AtRandom };

class HostEngines {
public:
  HostEngines(Order order, size_t lmBytes, size_t accBytes) : order(order), lmBytes(lmBytes), acc(accBytes, char(0xcd)) {
    void *at = mmap(reinterpret_cast<void *>(DG_LM_BASE), lmBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == MAP_FAILED)
      throw std::runtime_error("no room for local memory at its address");
    std::memset(at, 0xcd, lmBytes);
    current = this;
  }
  ~HostEngines() { munmap(reinterpret_cast<void *>(DG_LM_BASE), lmBytes); }

  uint64_t issue(int queue, const void *descriptor, size_t bytes) {
    const char *from = static_cast<const char *>(descriptor);
    queues[queue].push_back({false, 0, 0, std::vector<char>(from, from + bytes)});
    ++commands;
    progress();
    return ++issued[queue];
  }
  void queueWait(int queue, int flag, uint64_t ticket) {
    queues[queue].push_back({true, flag, ticket, {}});
    progress();
  }
  void wait(int flag, uint64_t ticket) {
    progress();
    while (flags[flag] < ticket)
      advance(flag, 0);
  }
  bool idle() const {
    for (auto &queue : queues)
      if (!queue.empty())
        return false;
    return true;
  }

  static inline HostEngines *current = nullptr;
  size_t commands = 0;

private:
  struct Entry {
    bool isWait;
    int flag;
    uint64_t ticket;
    std::vector<char> descriptor;
  };

  bool blocked(int queue) {
    return queues[queue].empty() || (queues[queue][0].isWait && flags[queues[queue][0].flag] < queues[queue][0].ticket);
  }

  void step(int queue) {
    Entry entry = std::move(queues[queue].front());
    queues[queue].pop_front();
    if (entry.isWait)
      return;
    if (queue == DG_TENSOR)
      tensor(*reinterpret_cast<dg_tensor_command *>(entry.descriptor.data()));
    else if (queue == DG_DRAIN)
      drain(*reinterpret_cast<dg_drain_command *>(entry.descriptor.data()));
    else
      copy(*reinterpret_cast<dg_dma_command *>(entry.descriptor.data()));
    ++flags[queue];
  }

  // The one thing that brings `queue` forward.
  void advance(int queue, int depth) {
    if (queues[queue].empty() || depth > 100)
      throw std::runtime_error("deadlock: queue " + std::to_string(queue) + " waits for what never comes");
    if (blocked(queue))
      return advance(queues[queue][0].flag, depth + 1);
    step(queue);
  }

  void progress() {
    if (order == Order::AsLateAsPossible)
      return;
    if (order == Order::AtOnce) {
      for (bool moved = true; moved;) {
        moved = false;
        for (int q = 0; q < DG_QUEUES; ++q)
          while (!blocked(q))
            step(q), moved = true;
      }
      return;
    }
    for (int tries = random() % 6; tries > 0; --tries)
      if (int q = random() % DG_QUEUES; !blocked(q))
        step(q);
  }

  char *local(int64_t address, size_t bytes) {
    if (address < int64_t(DG_LM_BASE) || address + bytes > DG_LM_BASE + lmBytes)
      throw std::runtime_error("a command touches address " + std::to_string(address) + ", which is not local memory");
    return reinterpret_cast<char *>(address);
  }
  template <typename T> T read(int64_t address) {
    T value;
    std::memcpy(&value, local(address, sizeof(T)), sizeof(T));
    return value;
  }
  template <typename T> T &accumulator(uint32_t offset) {
    if (offset + 4 > acc.size())
      throw std::runtime_error("a command touches accumulators beyond the end");
    return *reinterpret_cast<T *>(&acc[offset]);
  }
  static float widen(uint16_t bits) {
    uint32_t wide = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &wide, 4);
    return value;
  }
  double element(uint8_t type, int64_t address) {
    switch (type) {
    case DG_I8:
      return read<int8_t>(address);
    case DG_U8:
      return read<uint8_t>(address);
    case DG_F16:
      return read<_Float16>(address);
    case DG_BF16:
      return widen(read<uint16_t>(address));
    case DG_F32:
      return read<float>(address);
    default:
      throw std::runtime_error("unexpected element type");
    }
  }

  void tensor(const dg_tensor_command &c) {
    bool integer = c.a_type <= DG_U8;
    for (uint32_t m0 = 0; m0 < c.m[0]; ++m0)
      for (uint32_t m1 = 0; m1 < c.m[1]; ++m1)
        for (uint32_t n = 0; n < c.n; ++n) {
          uint32_t place = c.acc + (m0 * c.m[1] + m1) * c.acc_m_stride + 4 * n;
          float sum = c.accumulate ? accumulator<float>(place) : 0;
          int32_t total = c.accumulate ? accumulator<int32_t>(place) : 0;
          for (uint32_t k0 = 0; k0 < c.k[0]; ++k0)
            for (uint32_t k1 = 0; k1 < c.k[1]; ++k1)
              for (uint32_t k2 = 0; k2 < c.k[2]; ++k2) {
                int64_t a = int64_t(c.a) + int64_t(m0) * c.a_m_stride[0] + int64_t(m1) * c.a_m_stride[1] + int64_t(k0) * c.a_k_stride[0] +
                            int64_t(k1) * c.a_k_stride[1] + int64_t(k2) * c.a_k_stride[2];
                int64_t b = int64_t(c.b) + int64_t(k0) * c.b_k_stride[0] + int64_t(k1) * c.b_k_stride[1] + int64_t(k2) * c.b_k_stride[2] +
                            int64_t(n) * c.b_n_stride;
                if (integer)
                  total += int32_t(element(c.a_type, a)) * int32_t(element(c.b_type, b));
                else
                  sum = std::fma(float(element(c.a_type, a)), float(element(c.b_type, b)), sum);
              }
          if (integer)
            accumulator<int32_t>(place) = total;
          else
            accumulator<float>(place) = sum;
        }
  }

  void drain(const dg_drain_command &c) {
    for (uint32_t m0 = 0; m0 < c.m[0]; ++m0)
      for (uint32_t m1 = 0; m1 < c.m[1]; ++m1)
        for (uint32_t n = 0; n < c.n; ++n) {
          uint32_t place = c.acc + (m0 * c.m[1] + m1) * c.acc_m_stride + 4 * n;
          int64_t out = int64_t(c.out) + int64_t(m0) * c.out_m_stride[0] + int64_t(m1) * c.out_m_stride[1];
          if (c.acc_type == DG_I32 && c.out_type == DG_I32) {
            std::memcpy(local(out + 4 * n, 4), &accumulator<int32_t>(place), 4);
            continue;
          }
          float value = c.acc_type == DG_I32 ? float(accumulator<int32_t>(place)) : accumulator<float>(place);
          value = std::fma(value, c.scale ? read<float>(c.scale + 4 * n) : 1.0f, c.bias ? read<float>(c.bias + 4 * n) : 0.0f);
          if (c.residual) {
            int bytes = c.residual_type == DG_F32 ? 4 : 2;
            value += float(element(c.residual_type, int64_t(c.residual) + int64_t(m0) * c.residual_m_stride[0] +
                                                        int64_t(m1) * c.residual_m_stride[1] + n * bytes));
          }
          if (value < c.low)
            value = c.low;
          if (value > c.high)
            value = c.high;
          if (c.out_type == DG_F32) {
            std::memcpy(local(out + 4 * n, 4), &value, 4);
          } else if (c.out_type == DG_F16) {
            auto half = _Float16(value);
            std::memcpy(local(out + 2 * n, 2), &half, 2);
          } else {
            throw std::runtime_error("unexpected type out of the drain");
          }
        }
  }

  void copy(const dg_dma_command &c) {
    int32_t i[5];
    for (i[0] = 0; i[0] < int32_t(c.count[0]); ++i[0])
      for (i[1] = 0; i[1] < int32_t(c.count[1]); ++i[1])
        for (i[2] = 0; i[2] < int32_t(c.count[2]); ++i[2])
          for (i[3] = 0; i[3] < int32_t(c.count[3]); ++i[3])
            for (i[4] = 0; i[4] < int32_t(c.count[4]); ++i[4]) {
              bool inside = true;
              uint64_t from = c.src, to = c.dst;
              for (int d = 0; d < 5; ++d) {
                inside &= c.low[d] <= i[d] && i[d] < c.high[d];
                from += i[d] * c.src_stride[d];
                to += i[d] * c.dst_stride[d];
              }
              if (inside)
                std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), c.element_bytes);
              else if (c.fill_outside)
                std::memcpy(reinterpret_cast<void *>(to), &c.fill, c.element_bytes);
            }
  }

  Order order;
  size_t lmBytes;
  std::vector<char> acc;
  std::deque<Entry> queues[DG_QUEUES];
  uint64_t issued[DG_QUEUES] = {}, flags[DG_QUEUES] = {};
  std::minstd_rand random{1};
};

// The kernels of an LLVM module as functions of this process.
class HostKernels {
public:
  using Entry = void (*)(const dg_launch *, uint64_t, uint64_t, uint64_t);

  HostKernels(std::unique_ptr<llvm::Module> module, std::unique_ptr<llvm::LLVMContext> context) {
    jit = hostCode();
    module->setDataLayout(jit->getDataLayout());
    module->setTargetTriple(jit->getTargetTriple());
    llvm::orc::SymbolMap symbols;
    auto define = [&](const char *name, auto *function) {
      symbols[jit->mangleAndIntern(name)] =
          llvm::orc::ExecutorSymbolDef(llvm::orc::ExecutorAddr::fromPtr(function), llvm::JITSymbolFlags::Exported);
    };
    define("__dg_tensor", +[](const void *d) { return HostEngines::current->issue(DG_TENSOR, d, sizeof(dg_tensor_command)); });
    define("__dg_drain", +[](const void *d) { return HostEngines::current->issue(DG_DRAIN, d, sizeof(dg_drain_command)); });
    define("__dg_dma", +[](int32_t queue, const void *d) { return HostEngines::current->issue(queue, d, sizeof(dg_dma_command)); });
    define("__dg_qwait", +[](int32_t queue, int32_t flag, uint64_t ticket) { HostEngines::current->queueWait(queue, flag, ticket); });
    define("__dg_await", +[](int32_t flag, uint64_t ticket) { HostEngines::current->wait(flag, ticket); });
    check(jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(symbols)));
    check(jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
  }
  Entry operator[](const std::string &name) { return take(jit->lookup(name)).toPtr<Entry>(); }

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace dougong
