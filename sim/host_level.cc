#include "sim/host_level.h"
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace dougong::sim {

#define DG_LEVEL(level)                                                                                                                    \
  namespace level {                                                                                                                        \
  void tensor(const dg_tensor_command &, const uint8_t *, uint8_t *);                                                                      \
  void drain(const dg_drain_command &, uint8_t *, const uint8_t *);                                                                        \
  void dma_add(uint8_t, uint8_t *, const uint8_t *, uint64_t);                                                                             \
  extern const VectorHandlers *const vector_table;                                                                                         \
  }
DG_LEVEL(base)
#if defined(__x86_64__)
DG_LEVEL(v3)
DG_LEVEL(v4)
#endif

const HostLevel *host_level(const char *name) {
  static const HostLevel base_level{"base", base::tensor, base::drain, base::dma_add, base::vector_table};
  if (!std::strcmp(name, "base"))
    return &base_level;
#if defined(__x86_64__)
  static const HostLevel v3_level{"v3", v3::tensor, v3::drain, v3::dma_add, v3::vector_table};
  static const HostLevel v4_level{"v4", v4::tensor, v4::drain, v4::dma_add, v4::vector_table};
  if (!std::strcmp(name, "v3"))
    return __builtin_cpu_supports("x86-64-v3") ? &v3_level : nullptr;
  if (!std::strcmp(name, "v4"))
    return __builtin_cpu_supports("x86-64-v4") ? &v4_level : nullptr;
#endif
  return nullptr;
}

const HostLevel &host_level() {
  static const HostLevel &best = [&]() -> const HostLevel & {
    const char *wanted = std::getenv("DOUGONG_HOST_LEVEL");
    for (const char *name : {wanted ? wanted : "v4", "v4", "v3"})
      if (const HostLevel *level = host_level(name))
        return *level;
    return *host_level("base");
  }();
  return best;
}

} // namespace dougong::sim
