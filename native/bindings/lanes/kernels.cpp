#include "lanes/kernels.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings/bindings.h"

namespace labeltree {

void bind_kernels(nanobind::module_& m) {
  m.def(
      "vector_code", [] { return std::string(lane_kernels().name); },
      "The instruction set whose vector code is used (LABELTREE_ISA in the environment chooses another).");
  m.def(
      "available_vector_code",
      [] {
        const LaneKernels* kernels[3];
        const int n = available_lane_kernels(kernels, 3);
        std::vector<std::string> names;
        for (int i = 0; i < n; ++i) names.emplace_back(kernels[i]->name);
        return names;
      },
      "The instruction sets that can be used here, best first.");
}

}  // namespace labeltree
