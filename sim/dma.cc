#include "sim/dma.h"
#include "sim/element_types.h"
#include "sim/host_level.h"
#include "sim/shared.h"
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dougong::sim {
namespace {

constexpr int dimensions = 5;

struct Box {
  int64_t low[dimensions], high[dimensions];
  bool empty() const {
    for (int d = 0; d < dimensions; ++d)
      if (low[d] >= high[d])
        return true;
    return false;
  }
};

Box whole_box(const dg_dma_command &c) {
  Box box;
  for (int d = 0; d < dimensions; ++d)
    box.low[d] = 0, box.high[d] = c.count[d];
  return box;
}
Box inside_box(const dg_dma_command &c) {
  Box box;
  for (int d = 0; d < dimensions; ++d) {
    box.low[d] = std::max<int64_t>(0, c.low[d]);
    box.high[d] = std::min<int64_t>(c.count[d], c.high[d]);
  }
  return box;
}

// What of dimension 0 a side can reach: all that a list may name, or the rows of the other side, each of which may be named.
Box listed_box(Box box, const dg_dma_command &c, bool side_is_listed) {
  if (!c.listed)
    return box;
  box.low[0] = side_is_listed ? c.low[0] : 0;
  box.high[0] = side_is_listed ? int64_t(c.high[0]) : c.count[0];
  return box;
}

struct Span {
  __int128 low, high;
};
Span reach(uint64_t base, const int64_t (&stride)[dimensions], const Box &box, uint32_t element) {
  Span span{__int128(base), __int128(base)};
  for (int d = 0; d < dimensions; ++d) {
    __int128 first = __int128(stride[d]) * box.low[d], last = __int128(stride[d]) * (box.high[d] - 1);
    span.low += std::min(first, last);
    span.high += std::max(first, last);
  }
  span.high += element;
  return span;
}

enum class Space { lm, dram, none };
Space space_of(uint64_t address) { return address >= DG_DRAM_BASE ? Space::dram : address >= DG_LM_BASE ? Space::lm : Space::none; }

// One side of a copy: where its bytes are on the host, and whether they may be touched.
struct Side {
  Span span;
  Space space = Space::none;
  uint8_t *host = nullptr; // of address 0, so to speak: host + address
  bool exact = true;       // the whole span is in one region; else each run is checked

  uint8_t *at(uint64_t address) const { return host + address; }
};

enum class Access { read, write, add };

// Integers that are added commute, so several cores may; of floats the order shows.
bool commutes(const dg_dma_command &c) { return c.add && c.add_type <= DG_I32; }

// Finds a side's memory; the problem, if it may not be touched.
std::string find_side(Side &side, const char *name, bool may_be_global, bool may_be_lm, Core &core) {
  if (side.span.low < 0 || side.span.high > __int128(~0ull))
    return fmt::format("{} reaches beyond the address space", name);
  uint64_t low = uint64_t(side.span.low), high = uint64_t(side.span.high);
  side.space = space_of(low);
  auto fail = [&](std::string why) { return fmt::format("{} reaches [{:#x}, {:#x}): {}", name, low, high, why); };
  if (side.space == Space::lm) {
    if (!may_be_lm)
      return fail("a load writes local memory and a store reads it; this is the wrong kind of queue");
    uint8_t *at = core.shared.lm_of(low, high - low, core);
    if (!at)
      return fail(fmt::format("outside local memory, [{:#x}, {:#x}), and that of another core", DG_LM_BASE, DG_LM_BASE + core.lm_bytes));
    side.host = reinterpret_cast<uint8_t *>(reinterpret_cast<uintptr_t>(at) - low);
    return "";
  }
  if (side.space == Space::none)
    return fail(core.shared.memory.describe(low));
  if (!may_be_global)
    return fail("a store reads local memory and a load writes it; this is the wrong kind of queue");
  GlobalMemory &memory = core.shared.memory;
  if (!memory.inside(low, high - low))
    return fail(fmt::format("outside DRAM, [{:#x}, {:#x})", DG_DRAM_BASE, DG_DRAM_BASE + memory.bytes()));
  side.host = reinterpret_cast<uint8_t *>(reinterpret_cast<uintptr_t>(memory.base()) - DG_DRAM_BASE);
  side.exact = memory.find(low, high - low) != nullptr;
  if (!side.exact && !memory.find(low))
    return fail(memory.describe(low));
  if (!side.exact && !memory.find(high - 1))
    return fail(memory.describe(high - 1));
  return "";
}

class Mover {
public:
  Mover(const dg_dma_command &c, Core &core, const Side &src, const Side &dst, uint64_t pc)
      : c(c), core(core), src(src), dst(dst), pc(pc), unit(c.element_bytes), level(dimensions - 1) {
    for (int i = 0; i < int(core.shared.cores.size()); ++i)
      if (c.cores >> i & 1)
        receivers.push_back(core.shared.cores[i].get());
    for (int outermost = c.listed ? 1 : 0; level >= outermost; --level) {
      bool whole = c.low[level] <= 0 && c.high[level] >= int64_t(c.count[level]);
      bool joined = c.count[level] == 1 || (c.src_stride[level] == int64_t(unit) && c.dst_stride[level] == int64_t(unit));
      if (!whole || !joined)
        break;
      unit *= c.count[level];
    }
  }

  Copied run() {
    if (c.listed)
      walk_list();
    else if (level < 0)
      copy(c.src, c.dst, unit);
    else
      walk(0, c.src, c.dst, true);
    for (Run &run : open)
      flush(run);
    return std::move(done);
  }

private:
  // Where nothing is touched an offset may be nonsense, and wraps.
  static uint64_t times(int64_t index, int64_t stride) { return uint64_t(index) * uint64_t(stride); }

  void walk_list() {
    Side own;
    own.space = Space::lm;
    uint64_t bytes = 4 * uint64_t(c.count[0]);
    moved(0, own, c.list, bytes, Access::read);
    done.list_bytes = bytes;
    // All of it before the first row moves, which may overwrite it.
    std::vector<int32_t> list(c.count[0]);
    std::memcpy(list.data(), core.lm + (c.list - DG_LM_BASE), bytes);
    for (uint32_t i = 0; i < c.count[0]; ++i) {
      int32_t row = list[i];
      bool within = row >= c.low[0] && row < c.high[0];
      if (!within && !c.fill_outside)
        continue;
      uint64_t from = c.src + times(c.listed == DG_LIST_SRC ? row : int64_t(i), c.src_stride[0]);
      uint64_t to = c.dst + times(c.listed == DG_LIST_DST ? row : int64_t(i), c.dst_stride[0]);
      if (level > 0)
        walk(1, from, to, within);
      else if (within)
        copy(from, to, unit);
      else
        fill(to, unit);
    }
  }

  void walk(int d, uint64_t from, uint64_t to, bool inside) {
    int64_t count = c.count[d], low = std::clamp<int64_t>(c.low[d], 0, count), high = std::clamp<int64_t>(c.high[d], low, count);
    if (!inside)
      low = high = count;
    if (d < level) {
      for (int64_t i = 0; i < count; ++i) {
        bool within = i >= low && i < high;
        if (within || c.fill_outside)
          walk(d + 1, from + times(i, c.src_stride[d]), to + times(i, c.dst_stride[d]), within);
      }
      return;
    }
    if (c.fill_outside) {
      fill_units(to, low);
      fill_units(to + times(high, c.dst_stride[d]), count - high);
    }
    if (low < high)
      copy_units(from + times(low, c.src_stride[d]), to + times(low, c.dst_stride[d]), high - low);
  }

  void copy_units(uint64_t from, uint64_t to, int64_t count) {
    int64_t src_step = c.src_stride[level], dst_step = c.dst_stride[level];
    if (src_step == int64_t(unit) && dst_step == int64_t(unit))
      return copy(from, to, unit * count);
    for (int64_t i = 0; i < count; ++i)
      copy(from + times(i, src_step), to + times(i, dst_step), unit);
  }
  void fill_units(uint64_t to, int64_t count) {
    if (count > 0 && c.dst_stride[level] == int64_t(unit))
      return fill(to, unit * count);
    for (int64_t i = 0; i < count; ++i)
      fill(to + times(i, c.dst_stride[level]), unit);
  }

  void copy(uint64_t from, uint64_t to, uint64_t bytes) {
    if (!allowed(src, "src", from, bytes) || !allowed(dst, "dst", to, bytes))
      return;
    const uint8_t *in = src.at(from);
    write(to, bytes, [&](uint8_t *out) {
      if (c.add)
        return host_level().dma_add(c.add_type, out, in, bytes / c.element_bytes);
      switch (bytes) {
      case 1:
        *out = *in;
        break;
      case 2:
        std::memcpy(out, in, 2);
        break;
      case 4:
        std::memcpy(out, in, 4);
        break;
      case 8:
        std::memcpy(out, in, 8);
        break;
      default:
        std::memmove(out, in, bytes);
      }
    });
    moved(0, src, from, bytes, Access::read);
    moved(1, dst, to, bytes, c.add ? Access::add : Access::write);
  }

  // `set` does it, at each place of the host that the address stands for.
  template <typename F> void write(uint64_t to, uint64_t bytes, F set) {
    if (receivers.empty())
      return set(dst.at(to));
    for (Core *receiver : receivers)
      set(receiver->lm + (to - DG_LM_BASE));
  }

  void fill(uint64_t to, uint64_t bytes) {
    if (bytes == 0 || !allowed(dst, "dst", to, bytes))
      return;
    uint8_t first = uint8_t(c.fill);
    bool same = true;
    for (uint32_t i = 1; i < c.element_bytes; ++i)
      same &= uint8_t(c.fill >> (8 * i)) == first;
    write(to, bytes, [&](uint8_t *out) {
      if (c.add)
        for (uint64_t i = 0; i < bytes; i += c.element_bytes)
          host_level().dma_add(c.add_type, out + i, reinterpret_cast<const uint8_t *>(&c.fill), 1);
      else if (same)
        std::memset(out, first, bytes);
      else
        for (uint64_t i = 0; i < bytes; i += c.element_bytes)
          std::memcpy(out + i, &c.fill, c.element_bytes);
    });
    moved(1, dst, to, bytes, c.add ? Access::add : Access::write);
  }

  bool allowed(const Side &side, const char *name, uint64_t address, uint64_t bytes) {
    if (side.exact || core.shared.memory.find(address, bytes))
      return true;
    if (done.problem.empty())
      done.problem = fmt::format("{} touches [{:#x}, {:#x}): {}", name, address, address + bytes,
                                 core.shared.memory.describe(core.shared.memory.find(address) ? address + bytes - 1 : address));
    return false;
  }

  // Counts; and joins runs that are neighbours in global memory, as the engine does before it asks for bursts.
  struct Run {
    uint64_t begin = 0, end = 0;
  };
  void moved(int side_index, const Side &side, uint64_t address, uint64_t bytes, Access access) {
    bool reads = access != Access::write, writes = access != Access::read;
    const char *does = access == Access::add ? "adds to" : writes ? "writes" : "reads";
    if (side.space == Space::lm) {
      done.lm_read += reads ? bytes : 0;
      done.lm_written += writes ? bytes : 0;
      done.added_bytes += access == Access::add ? bytes : 0;
      auto check_written = [&](Core &owner, uint64_t offset) {
        if (reads)
          core.check_written(pc, "dg.dma", owner, offset, bytes, false);
        if (writes)
          core.check_written(pc, "dg.dma", owner, offset, bytes, true);
      };
      bool multicast = writes && !receivers.empty();
      auto [owner, offset] = core.shared.lm_owner(address, core);
      if (writes)
        done.receivers |= (multicast ? c.cores : 1ull << owner->number) & ~(1ull << core.number);
      if (core.written && !multicast)
        check_written(*owner, offset);
      if (core.written && multicast)
        for (Core *receiver : receivers)
          check_written(*receiver, offset);
      bool own = multicast ? c.cores >> core.number & 1 : owner == &core;
      if (core.check && own && !core.check->lm_access(offset, bytes, writes))
        throw Trap{Trap::Kind::race, core.check->running(),
                   fmt::format("dg.dma {} local memory at {:#x}, and no wait orders it with another access: {}", does,
                               DG_LM_BASE + core.check->found.offset, core.check->found.other)};
      return;
    }
    done.global_read += reads ? bytes : 0;
    done.global_written += writes ? bytes : 0;
    if (core.shared.global_races)
      if (std::string other = core.shared.global_races->access(core.number, core.check->running_agent(), core.check->running_clock(),
                                                               address, bytes, writes, commutes(c) ? 1 + c.add_type : 0);
          !other.empty())
        throw Trap{Trap::Kind::race, core.check->running(),
                   fmt::format("dg.dma {} global memory, and no wait orders it with another access at {}", does, other)};
    if (!core.shared.options.timing)
      return;
    Run &run = open[side_index];
    if (address != run.end) {
      flush(run);
      run = {address, address};
    }
    run.end = address + bytes;
  }
  void flush(Run &run) {
    // Beyond some millions, which no kernel has, the rest counts as if it lay behind the last one.
    if (constexpr size_t most = 1 << 22; run.end > run.begin && done.runs.size() < most)
      done.runs.push_back({run.begin, run.end - run.begin});
    else if (run.end > run.begin)
      done.runs.back().bytes += run.end - run.begin;
    run.begin = run.end;
  }

  const dg_dma_command &c;
  Core &core;
  const Side &src, &dst;
  uint64_t pc;
  uint64_t unit;                 // bytes contiguous on both sides
  int level;                     // the innermost dimension that is looped over
  std::vector<Core *> receivers; // of a multicast
  Run open[2];
  Copied done;
};

struct Sides {
  Side src, dst;
  bool nothing_read = false, nothing_written = false;
};
Sides sides_of(const dg_dma_command &c) {
  Sides sides;
  Box inside = inside_box(c), whole = whole_box(c);
  Box inside_src = listed_box(inside, c, c.listed == DG_LIST_SRC), inside_dst = listed_box(inside, c, c.listed == DG_LIST_DST);
  sides.nothing_read = inside_src.empty() || inside_dst.empty();
  sides.nothing_written = whole.empty() || (sides.nothing_read && !c.fill_outside);
  if (!sides.nothing_read)
    sides.src.span = reach(c.src, c.src_stride, inside_src, c.element_bytes);
  if (!sides.nothing_written)
    sides.dst.span = reach(c.dst, c.dst_stride, c.fill_outside ? whole : inside_dst, c.element_bytes);
  return sides;
}

} // namespace

std::string dma_problem(const dg_dma_command &c, bool load, Core &core) {
  uint32_t e = c.element_bytes;
  if (e != 1 && e != 2 && e != 4 && e != 8)
    return fmt::format("element_bytes is {}; it must be 1, 2, 4 or 8", e);
  if (c.fill_outside > 1)
    return fmt::format("fill_outside is {}; it must be 0 or 1", c.fill_outside);
  if (c.add > 1)
    return fmt::format("add is {}; it must be 0 or 1", c.add);
  if (c.add && (type_bytes(c.add_type) == 0 || c.add_type == DG_F8E4M3 || c.add_type == DG_F8E5M2))
    return fmt::format("add_type is {} ({}); it must be I8, U8, I16, I32, F16, BF16 or F32", c.add_type, type_name(c.add_type));
  if (c.add && uint32_t(type_bytes(c.add_type)) != e)
    return fmt::format("add_type is {}, of {} bytes; element_bytes is {}", type_name(c.add_type), type_bytes(c.add_type), e);
  if (size_t running = core.shared.cores.size(); running < 64 && c.cores >> running)
    return fmt::format("cores {:#x} names core {}; {} run, from 0 on", c.cores, std::bit_width(c.cores) - 1, running);
  if (c.listed > DG_LIST_DST)
    return fmt::format("listed is {}; it must be 0, DG_LIST_SRC ({}) or DG_LIST_DST ({})", c.listed, int(DG_LIST_SRC), int(DG_LIST_DST));
  if (c.listed && load != (c.listed == DG_LIST_SRC))
    return load ? "listed is DG_LIST_DST on a load queue; a load gathers (DG_LIST_SRC), a store scatters"
                : "listed is DG_LIST_SRC on a store queue; a store scatters (DG_LIST_DST), a load gathers";
  if (c.listed == DG_LIST_DST && c.fill_outside)
    return "fill_outside with DG_LIST_DST: an index outside names no place that could be filled";
  // A count of 0 makes the copy empty, whatever the others are; and the product may be beyond any word.
  bool empty = std::find(std::begin(c.count), std::end(c.count), 0) != std::end(c.count);
  uint64_t elements = !empty;
  for (uint32_t count : c.count) {
    elements *= count;
    if (elements > DG_DMA_MOST_ELEMENTS)
      return fmt::format("counts {}: a copy of more than {} elements", fmt::join(c.count, " x "), DG_DMA_MOST_ELEMENTS);
  }
  Sides sides = sides_of(c);
  if (c.listed && !sides.nothing_written) {
    uint64_t end = c.list + 4 * uint64_t(c.count[0]);
    if (c.list % 4)
      return fmt::format("list {:#x} must be a multiple of 4", c.list);
    if (c.list < DG_LM_BASE || end > DG_LM_BASE + core.lm_bytes)
      return fmt::format("list of {} indexes reaches [{:#x}, {:#x}), outside local memory, [{:#x}, {:#x})", c.count[0], c.list, end,
                         DG_LM_BASE, DG_LM_BASE + core.lm_bytes);
  }
  if (!sides.nothing_written)
    if (std::string problem = find_side(sides.dst, "dst", !load, true, core); !problem.empty())
      return problem;
  if (c.cores && !sides.nothing_written && (sides.dst.space != Space::lm || sides.dst.span.low >= __int128(DG_REMOTE_LM_BASE)))
    return fmt::format("dst {:#x} with cores {:#x}: a multicast goes to an address of local memory, [{:#x}, {:#x}), the same in each core",
                       c.dst, c.cores, DG_LM_BASE, DG_LM_BASE + core.lm_bytes);
  if (sides.nothing_read || sides.nothing_written)
    return "";
  return find_side(sides.src, "src", load, true, core);
}

Copied dma_copy(const dg_dma_command &c, Core &core, uint64_t pc) {
  Sides sides = sides_of(c);
  if (sides.nothing_written)
    return {};
  find_side(sides.dst, "dst", true, true, core);
  if (!sides.nothing_read)
    find_side(sides.src, "src", true, true, core);
  else
    sides.src.space = Space::lm;
  return Mover(c, core, sides.src, sides.dst, pc).run();
}

} // namespace dougong::sim
