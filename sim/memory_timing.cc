#include "sim/memory_timing.h"
#include <cmath>

namespace dougong::sim {

MemoryTiming::MemoryTiming(const Machine &machine)
    : machine(machine), l2_meter(machine.l2.bytes_per_cycle, slack), dram_meter(machine.dram_bytes_per_cycle(), slack),
      l2_latency(machine.l2.kib > 0 ? machine.l2.latency_cycles : 0),
      dram_latency(uint64_t(std::ceil(machine.dram.latency_ns * machine.device.clock_ghz - 1e-6))),
      row_miss_cycles(machine.dram.row_miss_ns * machine.device.clock_ghz), line_bytes(machine.l2.line_bytes) {
  if (machine.l2.kib > 0) {
    ways = machine.l2.ways;
    sets = std::max<uint64_t>(1, machine.l2_bytes() / line_bytes / ways);
    tags.assign(sets * ways, 0);
    stamps.assign(sets * ways, 0);
    dirty.assign(sets * ways, 0);
    arrival.assign(sets * ways, 0);
  }
  open_rows.assign(machine.dram.banks, 0);
  bank_misses.assign(machine.dram.banks, 0);
}

void MemoryTiming::reset_time(uint64_t start) {
  launch_start = start;
  l2_meter.reset();
  dram_meter.reset();
}

void MemoryTiming::dram(Request &request, uint64_t address, uint64_t bytes, bool write) {
  uint64_t burst = machine.dram.burst_bytes, first = address / burst, last = (address + bytes - 1) / burst;
  uint64_t moved = (last - first + 1) * burst;
  (write ? total.dram_written : total.dram_read) += moved;
  request.passed = std::max(request.passed, dram_meter.take(request.begin, moved));
  for (uint64_t row = address / machine.dram.row_bytes; row <= (address + bytes - 1) / machine.dram.row_bytes; ++row) {
    uint32_t bank = row % open_rows.size();
    if (open_rows[bank] == row + 1)
      continue;
    open_rows[bank] = row + 1;
    ++total.row_misses;
    if (bank_misses[bank]++ == 0)
      touched_banks.push_back(bank);
  }
}

// The lines of a run; `moved_before`: bytes of the request before it.
void MemoryTiming::touch(Request &request, uint64_t address, uint64_t bytes, uint64_t moved_before, const Meter &port) {
  if (ways == 0) {
    request.missed |= request.reads();
    if (request.reads())
      dram(request, address, bytes, false);
    if (request.writes())
      dram(request, address, bytes, true);
    return;
  }
  total.l2_read += request.reads() ? bytes : 0;
  total.l2_written += request.writes() ? bytes : 0;
  uint64_t end = address + bytes;
  for (uint64_t number = address / line_bytes; number <= (end - 1) / line_bytes; ++number) {
    uint64_t base = set_of(number) * ways, way = ways;
    for (uint64_t w = 0; w < ways; ++w)
      if (tags[base + w] == number + 1)
        way = w;
    ++clock;
    if (way == ways) {
      way = std::min_element(&stamps[base], &stamps[base] + ways) - &stamps[base];
      if (dirty[base + way])
        --dirty_lines, dram(request, (tags[base + way] - 1) * line_bytes, line_bytes, true);
      tags[base + way] = number + 1;
      dirty[base + way] = 0;
      arrival[base + way] = 0;
      bool whole = number * line_bytes >= address && (number + 1) * line_bytes <= end;
      if (request.reads() || !whole) {
        dram(request, number * line_bytes, line_bytes, false);
        request.missed |= request.reads();
        uint64_t asked = request.begin + port.alone(moved_before + (std::max(number * line_bytes, address) - address));
        arrival[base + way] = launch_start + std::max(asked, request.passed) + dram_latency;
      }
    } else if (request.reads() && arrival[base + way] > launch_start) {
      request.under_way = std::max(request.under_way, arrival[base + way] - launch_start + l2_latency);
    }
    stamps[base + way] = clock;
    if (request.writes() && !dirty[base + way])
      dirty[base + way] = 1, ++dirty_lines;
  }
}

MemoryTiming::Passed MemoryTiming::finish(const Request &request) {
  uint64_t passed = request.passed;
  uint32_t most = 0;
  for (uint32_t bank : touched_banks)
    most = std::max(most, bank_misses[bank]), bank_misses[bank] = 0;
  touched_banks.clear();
  // One bank opens its rows one after another; the first of them is part of the latency.
  if (most > 1)
    passed = std::max(passed, request.begin + uint64_t(std::ceil((most - 1) * row_miss_cycles)));
  uint64_t latency = l2_latency + (request.missed || !ways ? dram_latency : 0);
  return {passed, latency, request.under_way};
}

MemoryTiming::Passed MemoryTiming::copy(const std::vector<Run> &runs, Access access, uint64_t begin, const Meter &port) {
  Request request{access, begin, begin};
  uint64_t bytes = 0, before = total.dram_read + total.dram_written;
  for (const Run &run : runs) {
    touch(request, run.address, run.bytes, bytes, port);
    bytes += run.bytes;
  }
  if (ways && bytes)
    request.passed = std::max(request.passed, l2_meter.take(begin, access == Access::add ? 2 * bytes : bytes));
  request.passed = std::max(request.passed, begin + dram_meter.alone(total.dram_read + total.dram_written - before));
  return finish(request);
}

uint64_t MemoryTiming::line(uint64_t address, bool write, uint64_t begin) {
  Request request{write ? Access::write : Access::read, begin, begin};
  touch(request, address, 64, 0, l2_meter);
  if (ways)
    request.passed = std::max(request.passed, l2_meter.take(begin, 64));
  return finish(request).arrived();
}

} // namespace dougong::sim
