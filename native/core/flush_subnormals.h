// Treats subnormal numbers (below 1e-38) as zero: they are about thirty times slower.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace labeltree {

// In this thread, for as long as this lives.
class FlushSubnormals {
#if defined(__SSE__)
 public:
  FlushSubnormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040); }
  ~FlushSubnormals() { _mm_setcsr(saved_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  unsigned saved_;
#endif
};

}  // namespace labeltree
