#include "sim/memory_timing.h"
#include <algorithm>
#include <cmath>

namespace dougong::sim {

uint64_t Calendar::take(uint64_t start, double bytes, double most_rate) {
  if (bytes <= 0)
    return start;
  double rate_here = std::min(rate, most_rate);
  uint64_t index = start / epoch;
  double from = double(start % epoch); // within the epoch
  for (;; ++index, from = 0) {
    if (index >= taken.size())
      taken.resize(std::max<size_t>(index + 1, taken.size() * 2), 0.0f);
    double room = rate * epoch - taken[index], possible = rate_here * (epoch - from);
    double now = std::min({room, possible, bytes});
    if (now <= 0)
      continue;
    taken[index] += float(now);
    bytes -= now;
    if (bytes > 1e-3)
      continue;
    // The epoch's bytes pass in order: not before those that were there already, nor faster than the requester takes them.
    double offset = std::max(from + now / rate_here, double(taken[index]) / rate);
    return index * epoch + uint64_t(std::ceil(std::min(offset, double(epoch)) - 1e-6));
  }
}

MemoryTiming::MemoryTiming(const Machine &machine)
    : machine(machine), l2_calendar(machine.l2.bytes_per_cycle), dram_calendar(machine.dram_bytes_per_cycle()),
      row_miss_cycles(machine.dram.row_miss_ns * machine.device.clock_ghz),
      dram_latency_cycles(machine.dram.latency_ns * machine.device.clock_ghz), line_bytes(machine.l2.line_bytes) {
  if (machine.l2.kib > 0) {
    ways = machine.l2.ways;
    sets = std::max<uint64_t>(1, machine.l2_bytes() / line_bytes / ways);
    tags.assign(sets * ways, 0);
    stamps.assign(sets * ways, 0);
    dirty.assign(sets * ways, 0);
  }
  open_rows.assign(machine.dram.banks, 0);
  bank_misses.assign(machine.dram.banks, 0);
}

void MemoryTiming::reset_time() {
  l2_calendar.reset();
  dram_calendar.reset();
}

void MemoryTiming::dram(Traffic &traffic, uint64_t address, uint64_t bytes, bool write) {
  uint64_t burst = machine.dram.burst_bytes, first = address / burst, last = (address + bytes - 1) / burst;
  uint64_t moved = (last - first + 1) * burst;
  (write ? traffic.dram_written : traffic.dram_read) += moved;
  (write ? total.dram_written : total.dram_read) += moved;
  for (uint64_t row = address / machine.dram.row_bytes; row <= (address + bytes - 1) / machine.dram.row_bytes; ++row) {
    uint32_t bank = row % open_rows.size();
    if (open_rows[bank] == row + 1)
      continue;
    open_rows[bank] = row + 1;
    ++traffic.row_misses, ++total.row_misses;
    if (bank_misses[bank]++ == 0)
      touched_banks.push_back(bank);
  }
}

void MemoryTiming::touch(Traffic &traffic, uint64_t address, uint64_t bytes, bool write) {
  if (bytes == 0)
    return;
  if (ways == 0) {
    traffic.missed |= !write;
    dram(traffic, address, bytes, write);
    return;
  }
  (write ? traffic.l2_written : traffic.l2_read) += bytes;
  (write ? total.l2_written : total.l2_read) += bytes;
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
        dram(traffic, (tags[base + way] - 1) * line_bytes, line_bytes, true);
      tags[base + way] = number + 1;
      dirty[base + way] = 0;
      bool whole = number * line_bytes >= address && (number + 1) * line_bytes <= end;
      if (!write || !whole) {
        dram(traffic, number * line_bytes, line_bytes, false);
        traffic.missed |= !write;
      }
    }
    stamps[base + way] = clock;
    if (write)
      dirty[base + way] = 1;
  }
}

MemoryTiming::Passed MemoryTiming::schedule(const Traffic &traffic, uint64_t start, double port_bytes, double port_rate) {
  uint64_t end = start + uint64_t(std::ceil(port_bytes / port_rate));
  if (uint64_t bytes = traffic.l2_read + traffic.l2_written)
    end = std::max(end, l2_calendar.take(start, double(bytes), port_rate));
  double dram_bytes = double(traffic.dram_read + traffic.dram_written);
  // Bursts and evictions may make DRAM move more than the port does; the port does not limit those.
  if (dram_bytes > 0)
    end = std::max(end, dram_calendar.take(start, dram_bytes, port_rate * std::max(1.0, dram_bytes / std::max(port_bytes, 1.0))));
  uint32_t most = 0;
  for (uint32_t bank : touched_banks)
    most = std::max(most, bank_misses[bank]), bank_misses[bank] = 0;
  touched_banks.clear();
  // One bank opens its rows one after another; the first of them is part of the latency.
  if (most > 1)
    end = std::max(end, start + uint64_t(std::ceil((most - 1) * row_miss_cycles)));
  double latency = (ways ? machine.l2.latency_cycles : 0) + (traffic.missed || !ways ? dram_latency_cycles : 0);
  return {end, end + uint64_t(std::ceil(latency))};
}

uint64_t MemoryTiming::line(uint64_t address, bool write, uint64_t start) {
  Traffic traffic;
  touch(traffic, address, 64, write);
  return schedule(traffic, start, 64, machine.dma.bytes_per_cycle).arrived - start;
}

MemoryTiming::Traffic MemoryTiming::write_back() {
  Traffic traffic;
  for (size_t i = 0; i < dirty.size(); ++i)
    if (dirty[i])
      dram(traffic, (tags[i] - 1) * line_bytes, line_bytes, true), dirty[i] = 0;
  for (uint32_t bank : touched_banks)
    bank_misses[bank] = 0;
  touched_banks.clear();
  return traffic;
}

} // namespace dougong::sim
