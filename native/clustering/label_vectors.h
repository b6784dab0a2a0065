// A vector for every label, made of the examples that have it: what labels are clustered by.
#pragma once

#include <cstdint>
#include <vector>

#include "core/examples.h"
#include "core/label_examples.h"
#include "core/progress.h"

namespace labeltree {

struct LabelVectors {
  int64_t n_features = 0;
  std::vector<int64_t> begin;  // label j: [begin[j], begin[j + 1]); empty for a label without examples
  std::vector<int32_t> index;
  std::vector<float> value;

  int32_t n_labels() const { return static_cast<int32_t>(begin.size()) - 1; }
  FeatureMatrix matrix() const {
    return FeatureMatrix::csr(n_labels(), n_features, begin.data(), index.data(), value.data(), false);
  }
};

// The sum of the label's rows, times their weights, scaled to unit length; entries below
// `prune` are dropped (never all of them) and the rest, in no order, is scaled again.
// These are the vectors of a range of the labels, numbered from 0, as they are among all.
LabelVectors label_vectors(const Examples& examples, float prune, const LabelRange& range, int n_threads,
                           Progress& progress);

// The same of the label sets of the rows: how often each label occurs with each other, and by itself.
LabelVectors cooccurrence_vectors(const Examples& examples, float prune, const LabelRange& range,
                                  int n_threads, Progress& progress);

// The vectors of two kinds side by side; both count alike, and the whole is of unit length again.
LabelVectors join_vectors(const LabelVectors& first, const LabelVectors& second);

}  // namespace labeltree
