#include "bindings/online/online_forest.h"

#include <nanobind/stl/optional.h>

#include <memory>
#include <optional>

#include "bindings/bindings.h"
#include "bindings/core/items.h"
#include "bindings/core/views.h"
#include "bindings/search/answers.h"

namespace labeltree {

namespace {

void make_online_forest(BoundOnlineForest* self, const Items<nb::object>& items) {
  std::vector<nb::object> owners = to_vector<nb::object>(items);
  std::vector<std::shared_ptr<OnlineTree>> trees;
  for (const nb::object& owner : owners) {
    // The owners keep the trees alive: a count of their own could not be seen by the garbage collector.
    trees.emplace_back(std::shared_ptr<void>(), &nb::cast<OnlineTree&>(owner));
  }
  auto forest = std::make_unique<OnlineForest>(std::move(trees));
  new (self) BoundOnlineForest{std::move(owners), std::move(forest)};
}

void learn_rows(BoundOnlineForest& self, const BoundFeatures& features, Array<int64_t> label_indptr,
                Array<int32_t> label_indices, Array<int64_t> rows, std::optional<Array<float>> sample_weight,
                int n_threads, const BoundSearch* search, std::optional<OutMatrix<int32_t>> best,
                std::optional<OutMatrix<float>> probabilities) {
  const int64_t n_rows = features.matrix.n_rows();
  const LabelMatrixView labels = label_view(label_indptr, label_indices, n_rows);
  if (sample_weight) require_length(sample_weight->size(), n_rows, "sample_weight", "row of X");
  require(best.has_value() == (search != nullptr) && probabilities.has_value() == best.has_value(),
          "search, labels and probabilities go together");
  const auto n_chosen = static_cast<int64_t>(rows.size());
  OnlineForest::Predictions predictions{};
  if (best) {
    check_best(*best, *probabilities, n_chosen, search->search.k);
    predictions = {search->search, best->data(), probabilities->data()};
    // Labels are added meanwhile: an array of labels would be too short.
    require(search->search.allowed == nullptr && search->search.label_weight == nullptr,
            "a search while learning takes no allowed and no label_weight");
  }
  // Only the chosen rows are checked: a call may be for a few of very many. prepare() checks the labels.
  for (int64_t i = 0; i < n_chosen; ++i) {
    const int64_t r = rows.data()[i];
    require(r >= 0 && r < n_rows, "a row is out of range");
    require(labels.indptr[r] >= 0 && labels.indptr[r] <= labels.indptr[r + 1] &&
                labels.indptr[r + 1] <= static_cast<int64_t>(label_indices.size()),
            "label_indptr must ascend within label_indices");
  }
  const Lessons lessons{features.matrix, labels.indptr, labels.indices,
                        rows.data(),     n_chosen,      sample_weight ? sample_weight->data() : nullptr};
  nb::gil_scoped_release release;
  self.forest->learn(lessons, n_threads, best ? &predictions : nullptr);
}

}  // namespace

void bind_online_forest(nb::module_& m) {
  nb::class_<BoundOnlineForest> c(
      m, "OnlineForest", nb::type_slots(reference_slots<BoundOnlineForest>),
      "Online trees that learn the same examples and answer together, as Forest.");
  c.def("__init__", &make_online_forest, nb::arg("trees"),
        nb::sig("def __init__(self, trees: Sequence[OnlineTree]) -> None"));
  def_answers(c, [](const BoundOnlineForest& bound, const FeatureMatrix&) -> const ForestOf<OnlineTree>& {
    return bound.forest->answers();
  });
  c.def("learn", &learn_rows, nb::arg("features"), nb::arg("label_indptr").noconvert(),
        nb::arg("label_indices").noconvert(), nb::arg("rows").noconvert(),
        nb::arg("sample_weight").noconvert() = nb::none(), nb::arg("n_threads") = 1,
        nb::arg("search") = nb::none(), nb::arg("labels").noconvert() = nb::none(),
        nb::arg("probabilities").noconvert() = nb::none(),
        "Learn these rows in turn; if a search is given, fill labels and probabilities with the best of "
        "each row before it is learned.")
      .def(
          "forget",
          [](BoundOnlineForest& self, Array<uint8_t> kept) {
            require(static_cast<int32_t>(kept.size()) == self.forest->n_labels(), "a flag per label");
            self.forest->forget({kept.data(), kept.data() + kept.size()});
          },
          nb::arg("kept").noconvert(), nb::call_guard<nb::gil_scoped_release>(), "Keep only some labels.");
}

}  // namespace labeltree
