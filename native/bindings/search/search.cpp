#include "bindings/search/search.h"

#include "bindings/bindings.h"
#include "bindings/core/references.h"
#include "bindings/core/views.h"

namespace labeltree {

namespace {

template <class T>
void set_array(const nb::object& object, const char* name, const char* type, const T*& data, size_t& size) {
  if (object.is_none()) return;
  const auto array = array_of<T>(object, name, type);
  data = array.data();
  size = array.size();
}

void make_search(BoundSearch* self, int64_t k, float threshold, nb::object label_threshold,
                 nb::object label_weight, nb::object allowed, int beam, bool missing_as_zero,
                 bool normalize_siblings, int n_threads) {
  require(k >= 0, "k must be 0 or more");
  require(beam >= 0, "beam must be 0, for exact search, or more");
  BoundSearch bound;
  bound.search = {k,        threshold, nullptr, nullptr, nullptr, beam, missing_as_zero, normalize_siblings,
                  n_threads};
  set_array<float>(label_threshold, "label_threshold", "float32", bound.search.label_threshold,
                   bound.label_threshold_size);
  set_array<double>(label_weight, "label_weight", "float64", bound.search.label_weight,
                    bound.label_weight_size);
  set_array<uint8_t>(allowed, "allowed", "uint8", bound.search.allowed, bound.allowed_size);
  bound.label_threshold = std::move(label_threshold);
  bound.label_weight = std::move(label_weight);
  bound.allowed = std::move(allowed);
  new (self) BoundSearch(std::move(bound));
}

nb::object replace(nb::handle self, nb::kwargs changes) {
  nb::dict fields;
  for (const char* name : {"k", "threshold", "label_threshold", "label_weight", "allowed", "beam",
                           "missing_as_zero", "normalize_siblings", "n_threads"}) {
    fields[name] = self.attr(name);
  }
  fields.update(changes);
  return self.type()(**fields);
}

}  // namespace

void bind_search(nb::module_& m) {
  nb::class_<BoundSearch>(
      m, "Search", nb::type_slots(reference_slots<BoundSearch>),
      "What a forest is asked for: how many labels, which ones, and how to look for them.\n\n"
      "At most k labels per row with a probability of at least `threshold`, or in `above` with at least "
      "`label_threshold`. `top_k` ranks by label_weight times probability. Labels where `allowed` is 0 are "
      "not found. A beam of 0 is exact search. The arrays have one entry per label and are not copied.")
      .def("__init__", &make_search, nb::arg("k"), nb::kw_only(), nb::arg("threshold") = 0.0f,
           nb::arg("label_threshold") = nb::none(), nb::arg("label_weight") = nb::none(),
           nb::arg("allowed") = nb::none(), nb::arg("beam") = 0, nb::arg("missing_as_zero") = false,
           nb::arg("normalize_siblings") = false, nb::arg("n_threads") = 1,
           nb::sig(
               "def __init__(self, k: int, *, threshold: float = 0.0, label_threshold: "
               "NDArray[numpy.float32] | None = None, label_weight: NDArray[numpy.float64] | None = None, "
               "allowed: NDArray[numpy.uint8] | None = None, beam: int = 0, missing_as_zero: bool = False, "
               "normalize_siblings: bool = False, n_threads: int = 1) -> None"))
      .def(
          "replace", &replace,
          nb::sig("def replace(self, *, k: int = ..., threshold: float = ..., label_threshold: "
                  "NDArray[numpy.float32] | None = ..., label_weight: NDArray[numpy.float64] | None = ..., "
                  "allowed: NDArray[numpy.uint8] | None = ..., beam: int = ..., missing_as_zero: bool = ..., "
                  "normalize_siblings: bool = ..., n_threads: int = ...) -> Search"),
          "Return a copy with some fields changed.")
      .def_prop_ro("k", [](const BoundSearch& s) { return s.search.k; })
      .def_prop_ro("threshold", [](const BoundSearch& s) { return s.search.threshold; })
      .def_prop_ro(
          "label_threshold", [](const BoundSearch& s) { return s.label_threshold; },
          nb::sig("def label_threshold(self) -> NDArray[numpy.float32] | None"))
      .def_prop_ro(
          "label_weight", [](const BoundSearch& s) { return s.label_weight; },
          nb::sig("def label_weight(self) -> NDArray[numpy.float64] | None"))
      .def_prop_ro(
          "allowed", [](const BoundSearch& s) { return s.allowed; },
          nb::sig("def allowed(self) -> NDArray[numpy.uint8] | None"))
      .def_prop_ro("beam", [](const BoundSearch& s) { return s.search.beam; })
      .def_prop_ro("missing_as_zero", [](const BoundSearch& s) { return s.search.missing_as_zero; })
      .def_prop_ro("normalize_siblings", [](const BoundSearch& s) { return s.search.normalize_siblings; })
      .def_prop_ro("n_threads", [](const BoundSearch& s) { return s.search.n_threads; });
}

}  // namespace labeltree
