#include "model/link.h"

#include "bindings/bindings.h"
#include "bindings/core/arrays.h"

namespace labeltree {

namespace {

void link_all(Link link, Array<float> scores, OutArray<float> probabilities) {
  require(scores.size() == probabilities.size(), "scores and probabilities must be of one length");
  for (size_t i = 0; i < scores.size(); ++i) probabilities.data()[i] = apply_link(link, scores.data()[i]);
}

void normalize_blocks(Array<int64_t> begin, OutArray<float> probabilities) {
  require(begin.size() > 0, "begin needs an entry");
  for (size_t i = 0; i + 1 < begin.size(); ++i) {
    const int64_t first = begin.data()[i], last = begin.data()[i + 1];
    require(0 <= first && first <= last && last <= static_cast<int64_t>(probabilities.size()),
            "the blocks must lie within the probabilities");
    normalize_siblings(probabilities.data() + first, static_cast<int32_t>(last - first));
  }
}

}  // namespace

void bind_link(nb::module_& m) {
  nb::enum_<Link>(m, "Link")
      .value("sigmoid", Link::sigmoid)
      .value("clip", Link::clip)
      .value("exp2", Link::exp2)
      .value("exp3", Link::exp3)
      .value("exp4", Link::exp4)
      .value("exp5", Link::exp5)
      .value("sigmoid2", Link::sigmoid2)
      .value("softmax", Link::softmax);
  m.def("apply_link", nb::overload_cast<Link, float>(&apply_link), nb::arg("link"), nb::arg("score"),
        "The probability of a score.");
  m.def("apply_link_to_all", &link_all, nb::arg("link"), nb::arg("scores").noconvert(),
        nb::arg("probabilities").noconvert(), "Fill the probabilities of scores.");
  m.def("normalize_blocks", &normalize_blocks, nb::arg("begin").noconvert(),
        nb::arg("probabilities").noconvert(),
        "Scale the probabilities of siblings, block after block, to sum to 1 where they sum to less.");
}

}  // namespace labeltree
