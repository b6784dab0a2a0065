// The calls that every kind of forest answers, checked, and how answers go back.
#pragma once

#include <nanobind/stl/optional.h>

#include <optional>
#include <utility>
#include <vector>

#include "bindings/core/arrays.h"
#include "bindings/core/views.h"
#include "bindings/search/search.h"
#include "core/progress.h"
#include "search/ranking.h"

namespace labeltree {

using Evaluations = std::optional<OutArray<int64_t>>;

inline int64_t* evaluation_counts(const Evaluations& evaluations, int64_t n_rows) {
  if (!evaluations) return nullptr;
  require_length(evaluations->size(), n_rows, "evaluations", "row of X");
  return evaluations->data();
}

inline void check_best(const OutMatrix<int32_t>& labels, const OutMatrix<float>& probabilities,
                       int64_t n_rows, int64_t k) {
  const auto has_shape = [&](const auto& matrix) {
    return static_cast<int64_t>(matrix.shape(0)) == n_rows && static_cast<int64_t>(matrix.shape(1)) == k;
  };
  if (has_shape(labels) && has_shape(probabilities)) return;
  throw std::invalid_argument("labels and probabilities must have the shape (rows of X, k of the search): (" +
                              std::to_string(n_rows) + ", " + std::to_string(k) + ")");
}

inline void check_row(int64_t row, const FeatureMatrix& features) {
  require(row >= 0 && row < features.n_rows(), "the row is out of range");
}

// indptr, labels and probabilities. Calls answer(), which gives a list per row, without the GIL.
template <class Answer>
nb::tuple ranking(const Answer& answer) {
  std::vector<int64_t> indptr(1, 0);
  std::vector<int32_t> labels;
  std::vector<float> probabilities;
  {
    nb::gil_scoped_release release;
    std::vector<std::vector<ScoredLabel>> rows = answer();
    for (const auto& row : rows) indptr.push_back(indptr.back() + static_cast<int64_t>(row.size()));
    labels.reserve(indptr.back());
    probabilities.reserve(indptr.back());
    for (auto& row : rows) {
      for (const ScoredLabel& scored : row) {
        labels.push_back(scored.label);
        probabilities.push_back(scored.probability);
      }
      row = {};
    }
  }
  return nb::make_tuple(to_numpy(std::move(indptr)), to_numpy(std::move(labels)),
                        to_numpy(std::move(probabilities)));
}

// Adds top_k, above and pairs to a class. asked(bound, features) checks the features and returns a forest:
// n_labels(), top_k(), above() and pairs() as in search/forest.h.
template <class Bound, class Asked>
void def_answers(nb::class_<Bound>& c, Asked asked) {
  c.def(
      "top_k",
      [asked](const Bound& bound, const BoundFeatures& features, const BoundSearch& search,
              OutMatrix<int32_t> labels, OutMatrix<float> probabilities, Evaluations evaluations,
              Progress* progress) {
        const auto& forest = asked(bound, features.matrix);
        const int64_t n_rows = features.matrix.n_rows();
        const Search& wanted = search.for_labels(forest.n_labels());
        check_best(labels, probabilities, n_rows, wanted.k);
        int64_t* counts = evaluation_counts(evaluations, n_rows);
        nb::gil_scoped_release release;
        forest.top_k(features.matrix, wanted, labels.data(), probabilities.data(), counts, progress);
      },
      nb::arg("features"), nb::arg("search"), nb::arg("labels").noconvert(),
      nb::arg("probabilities").noconvert(), nb::arg("evaluations").noconvert() = nb::none(),
      nb::arg("progress") = nb::none(),
      "Fill labels and probabilities, shape (rows, search.k), with the best labels of each row.");
  c.def(
      "above",
      [asked](const Bound& bound, const BoundFeatures& features, const BoundSearch& search,
              Evaluations evaluations) {
        const auto& forest = asked(bound, features.matrix);
        const Search& wanted = search.for_labels(forest.n_labels());
        int64_t* counts = evaluation_counts(evaluations, features.matrix.n_rows());
        return ranking([&] { return forest.above(features.matrix, wanted, counts); });
      },
      nb::arg("features"), nb::arg("search"), nb::arg("evaluations").noconvert() = nb::none(),
      "Return the labels with at least their threshold, at most search.k per row: indptr, labels and "
      "probabilities, best first.");
  c.def(
      "pairs",
      [asked](const Bound& bound, const BoundFeatures& features, Array<int64_t> rows, Array<int32_t> labels,
              const BoundSearch& search, OutArray<float> probabilities) {
        const auto& forest = asked(bound, features.matrix);
        require(rows.size() == labels.size() && rows.size() == probabilities.size(),
                "rows, labels and probabilities must be of one length");
        for (size_t i = 0; i < rows.size(); ++i) {
          require(rows.data()[i] >= 0 && rows.data()[i] < features.matrix.n_rows(), "a row is out of range");
          require(labels.data()[i] >= 0 && labels.data()[i] < forest.n_labels(), "a label is out of range");
        }
        nb::gil_scoped_release release;
        forest.pairs(features.matrix, rows.data(), labels.data(), static_cast<int64_t>(rows.size()),
                     search.search, probabilities.data());
      },
      nb::arg("features"), nb::arg("rows").noconvert(), nb::arg("labels").noconvert(), nb::arg("search"),
      nb::arg("probabilities").noconvert(), "Fill the probabilities of (row, label) pairs; rows ascending.");
}

}  // namespace labeltree
