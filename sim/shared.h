// What the cores of one device share.
#pragma once
#include "sim/core.h"
#include "sim/device.h"
#include "sim/global_races.h"
#include "sim/memory.h"
#include "sim/memory_timing.h"
#include "sim/service_order.h"
#include "sim/trace.h"
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace dougong::sim {

struct Shared {
  Shared(const Machine &machine, const Options &options)
      : machine(machine), options(options), memory(options.dram_bytes), timing(this->machine) {
    if (options.check_races)
      global_races = std::make_unique<GlobalRaces>();
  }

  const Machine machine;
  const Options options;
  GlobalMemory memory;
  MemoryTiming timing;
  std::vector<std::unique_ptr<Core>> cores;
  std::deque<Code> codes; // a deque: cores point into it
  Trace *trace = nullptr;
  struct Semihosting *host = nullptr; // of the program that runs, if it is one
  std::string stack;                  // of that program: ", which is …", for who overflows it
  bool kernel = false;                // a launch: DG_KERNEL_RETURN ends a core's part
  uint64_t launch_start = 0;          // the device's cycle at which cores' time 0 lies

  // Timing mode: DMA commands that have not met memory yet; and the cycle of the reference schedule to which the other cores have come.
  ServiceOrder order;
  uint64_t horizon = ~0ull;
  void serve_before(uint64_t reference) {
    order.serve_before(reference, [&](int core, int queue) { cores[core]->engines.serve(queue); });
  }

  std::unique_ptr<GlobalRaces> global_races; // if races are looked for
  uint64_t dma_read = 0, dma_written = 0;    // asked of global memory
  // Symbols of the images, by address: the last at or below an address names it.
  std::map<uint64_t, std::string> symbols;
  std::string where(uint64_t pc) const; // "0x80000124 (main+12)"
  // From debug information: "kernel.c:12 in reads, inlined at kernel.c:19"; empty if there is none. The device fills it in.
  std::function<std::string(uint64_t pc)> line;
  std::string place(uint64_t pc) const { // both
    std::string text = line ? line(pc) : "";
    return where(pc) + (text.empty() ? "" : ", ") + text;
  }

  Code *code_at(uint64_t address);
  std::pair<Core *, uint64_t> lm_owner(uint64_t address, Core &own); // whose LM an address is in, and at which offset; null: no core's
  uint8_t *lm_of(uint64_t address, uint64_t bytes, Core &own);       // host address of own or remote LM; null: not in LM
};

// Fills `op` with the instruction at its address; a fault if there is none. The handler then is the one for the core's mode.
void decode(Core &core, Op *op);
Handler undecoded(bool timing);
std::unique_ptr<Op[]> undecoded_operations(uint64_t count, bool timing);

} // namespace dougong::sim
