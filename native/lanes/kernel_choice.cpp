#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "lanes/kernels.h"
#include "lanes/vector_kernels.h"

namespace labeltree {

#if defined(__x86_64__) || defined(_M_X64)
namespace isa_x86_64 {
extern const LaneKernels kernels;
}
namespace isa_x86_64_v3 {
extern const LaneKernels kernels;
}
namespace isa_x86_64_v4 {
extern const LaneKernels kernels;
}

int available_lane_kernels(const LaneKernels** kernels, int capacity) {
  int n = 0;
  __builtin_cpu_init();
  if (n < capacity && __builtin_cpu_supports("x86-64-v4")) kernels[n++] = &isa_x86_64_v4::kernels;
  if (n < capacity && __builtin_cpu_supports("x86-64-v3")) kernels[n++] = &isa_x86_64_v3::kernels;
  if (n < capacity) kernels[n++] = &isa_x86_64::kernels;
  return n;
}
#else
namespace isa_native {
extern const LaneKernels kernels;
}

int available_lane_kernels(const LaneKernels** kernels, int capacity) {
  if (capacity < 1) return 0;
  kernels[0] = &isa_native::kernels;
  return 1;
}
#endif

static const LaneKernels& choose() {
  const LaneKernels* kernels[3];
  const int n = available_lane_kernels(kernels, 3);
  const char* wanted = std::getenv("LABELTREE_ISA");
  if (wanted == nullptr || *wanted == '\0') return *kernels[0];
  std::string names;
  for (int i = 0; i < n; ++i) {
    if (std::string_view(wanted) == kernels[i]->name) return *kernels[i];
    names += (i ? ", " : "") + std::string(kernels[i]->name);
  }
  throw std::invalid_argument("LABELTREE_ISA=" + std::string(wanted) +
                              " cannot be used here; expected one of " + names);
}

const LaneKernels& lane_kernels() {
  static const LaneKernels& chosen = choose();
  return chosen;
}

const VectorKernels& vector_kernels() { return *lane_kernels().vectors; }

}  // namespace labeltree
