// While it stands, this thread's floats are as C programs start with them: to nearest even, subnormals kept, nothing trapped. Whoever calls
// us may have them otherwise (torch.set_flush_denormal), and what kernels compute must not depend on that.
#pragma once
#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace dougong::sim {

class DefaultFloats {
public:
  DefaultFloats(const DefaultFloats &) = delete;
#if defined(__x86_64__)
  DefaultFloats() : saved(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~DefaultFloats() { _mm_setcsr(saved); }

private:
  unsigned saved;
#else
  DefaultFloats() {
    std::fegetenv(&saved);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloats() { std::fesetenv(&saved); }

private:
  std::fenv_t saved;
#endif
};

} // namespace dougong::sim
