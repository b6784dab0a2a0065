#include "training/example_order.h"

#include <numeric>

#include "bindings/bindings.h"
#include "bindings/core/arrays.h"

namespace labeltree {

void bind_example_order(nb::module_& m) {
  m.def(
      "example_order",
      [](uint64_t seed, int epoch, int32_t n_rows) {
        require(n_rows >= 0, "a number of rows of at least 0");
        std::vector<int32_t> rows(n_rows);
        std::iota(rows.begin(), rows.end(), 0);
        ExampleOrder order;
        const uint32_t* shuffled = order.shuffle(seed, epoch, rows.data(), n_rows);
        return to_numpy(std::vector<int64_t>(shuffled, shuffled + n_rows));
      },
      nb::arg("seed"), nb::arg("epoch"), nb::arg("n_rows"),
      "The order in which incremental learning takes the rows of an epoch.");
}

}  // namespace labeltree
