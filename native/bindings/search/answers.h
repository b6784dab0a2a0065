// What forests and online trees are asked with, checked, and how answers go back.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "bindings/core/arrays.h"
#include "search/ranking.h"

namespace labeltree {

using Mask = std::optional<Array<uint8_t>>;

inline const uint8_t* mask_of_labels(const Mask& allowed, int32_t n_labels) {
  if (!allowed) return nullptr;
  require(static_cast<int32_t>(allowed->size()) == n_labels, "the mask must have one flag per label");
  return allowed->data();
}

inline const float* thresholds_of_labels(const std::optional<Array<float>>& threshold, int32_t n_labels) {
  if (!threshold) return nullptr;
  require(static_cast<int32_t>(threshold->size()) == n_labels, "threshold: one entry per label");
  return threshold->data();
}

inline const double* weights_of_labels(const std::optional<Array<double>>& weight, int32_t n_labels) {
  if (!weight) return nullptr;
  require(static_cast<int32_t>(weight->size()) == n_labels, "label_weight: one entry per label");
  return weight->data();
}

inline int64_t* evaluation_counts(const std::optional<OutArray<int64_t>>& evaluations, int64_t n_rows) {
  if (!evaluations) return nullptr;
  require(static_cast<int64_t>(evaluations->size()) == n_rows, "evaluations: one entry per row");
  return evaluations->data();
}

inline void check_best(const OutMatrix<int32_t>& labels, const OutMatrix<float>& probabilities,
                       int64_t n_rows) {
  require(static_cast<int64_t>(labels.shape(0)) == n_rows &&
              static_cast<int64_t>(probabilities.shape(0)) == n_rows &&
              labels.shape(1) == probabilities.shape(1),
          "labels and probabilities must have a row for each row of X and equally many columns");
}

inline void check_pairs(const Array<int64_t>& rows, const Array<int32_t>& labels,
                        const OutArray<float>& probabilities, int64_t n_rows, int32_t n_labels) {
  require(rows.size() == labels.size() && rows.size() == probabilities.size(),
          "rows and labels must be of one length");
  for (size_t i = 0; i < rows.size(); ++i) {
    require(rows.data()[i] >= 0 && rows.data()[i] < n_rows, "a row is out of range");
    require(labels.data()[i] >= 0 && labels.data()[i] < n_labels, "a label is out of range");
  }
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

}  // namespace labeltree
