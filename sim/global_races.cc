#include "sim/global_races.h"
#include "sim/statistics.h"
#include <algorithm>
#include <fmt/format.h>

namespace dougong::sim {

std::string GlobalRaces::access(int core, int agent, const RaceCheck::Clock &clock, uint64_t address, uint64_t bytes, bool write,
                                uint8_t adds) {
  uint16_t self = uint16_t(core * 8 + agent + 1);
  uint32_t now = clock[agent];
  auto same_core = [&](uint16_t other) { return (other - 1) / 8 == core; };
  auto unordered = [&](uint16_t other, uint32_t when) { return other && (!same_core(other) || when > clock[(other - 1) % 8]); };
  auto explain = [&](uint64_t at, uint16_t other, uint32_t when, const char *did) {
    return fmt::format("{:#x}: command {} of the {} queue of core {} {} it{}", at, when, engine_name((other - 1) % 8), (other - 1) / 8, did,
                       same_core(other) ? "" : ", and nothing orders two cores of one launch");
  };
  for (uint64_t at = address; at < address + bytes; ++at) {
    std::unique_ptr<Page> &page = pages[at / 4096];
    if (!page)
      page = std::make_unique<Page>();
    for (uint64_t end = std::min(address + bytes, (at / 4096 + 1) * 4096);; ++at) {
      uint64_t i = at % 4096;
      bool commutes = adds && page->adds[i] == adds;
      if (page->several_added[i] && !commutes)
        return fmt::format("{:#x}: several cores add to it, and nothing orders two cores of one launch", at);
      if (!(commutes && !same_core(page->writer[i])) && unordered(page->writer[i], page->written[i]))
        return explain(at, page->writer[i], page->written[i], page->adds[i] ? "adds to" : "writes");
      if (write) {
        if (page->several[i])
          return fmt::format("{:#x}: several cores read it, and nothing orders two cores of one launch", at);
        if (unordered(page->reader[i], page->read[i]))
          return explain(at, page->reader[i], page->read[i], "reads");
        page->several_added[i] |= commutes && !same_core(page->writer[i]);
        page->writer[i] = self, page->written[i] = now, page->adds[i] = adds;
      } else {
        page->several[i] |= page->reader[i] && !same_core(page->reader[i]);
        page->reader[i] = self, page->read[i] = now;
      }
      if (at + 1 == end)
        break;
    }
  }
  return "";
}

} // namespace dougong::sim
