#include "model/score_bins.h"

#include <algorithm>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/core/arrays.h"

namespace labeltree {

namespace {

nb::tuple sums_of_bins(Array<double> score, Array<uint8_t> positive, Array<double> weight,
                       Array<double> edges) {
  const auto n_pairs = static_cast<int64_t>(score.size());
  require_length(positive.size(), n_pairs, "positive", "score");
  require_length(weight.size(), n_pairs, "weight", "score");
  require(std::is_sorted(edges.data(), edges.data() + edges.size()), "edges must ascend");
  ScoreSums sums;
  {
    nb::gil_scoped_release release;
    sums = bin_scores({as_span(score), as_span(positive), as_span(weight)}, as_span(edges));
  }
  return nb::make_tuple(to_numpy(std::move(sums.weight)), to_numpy(std::move(sums.positive)),
                        to_numpy(std::move(sums.score)));
}

nb::tuple pools_of(Array<double> value, Array<double> weight) {
  require_length(weight.size(), static_cast<int64_t>(value.size()), "weight", "value");
  Pools pools = pool(as_span(value), as_span(weight));
  return nb::make_tuple(to_numpy(std::move(pools.begin)), to_numpy(std::move(pools.value)));
}

}  // namespace

void bind_score_bins(nb::module_& m) {
  m.def(
      "bin_scores", &sums_of_bins, nb::arg("score").noconvert(), nb::arg("positive").noconvert(),
      nb::arg("weight").noconvert(), nb::arg("edges").noconvert(),
      "Sums over the pairs whose scores lie between two edges: of weights, of the weights of positive pairs, "
      "and of scores times weights.");
  m.def("pool", &pools_of, nb::arg("value").noconvert(), nb::arg("weight").noconvert(),
        "Isotonic regression: where each range of equal values begins, and the values.");
}

}  // namespace labeltree
