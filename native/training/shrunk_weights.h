// A matrix of sums by feature and label; a weight is the part of a sum that exceeds a threshold.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/feature_map.h"
#include "lanes/kernels.h"
#include "training/label_scores.h"

namespace labeltree {

// The weight that a sum stands for: it moved towards 0 by the threshold, and not beyond.
inline float shrunk(float sum, float threshold) {
  return std::max(sum - threshold, 0.0f) + std::min(sum + threshold, 0.0f);
}

// Features have rows of their own: different ones may be written at the same time.
class ShrunkWeights {
 public:
  ShrunkWeights(int64_t n_features, int32_t n_labels, float threshold)
      : n_labels_(n_labels), threshold_(threshold), rows_(n_features) {}

  void add(int32_t feature, int32_t label, float step) {
    Row& row = rows_[feature];
    if (row.is_full()) {
      row.sum[label] += step;
      return;
    }
    uint32_t at = row.place.find(static_cast<uint32_t>(label));
    if (at == 0) {
      row.label.push_back(label);
      row.sum.push_back(step);
      at = static_cast<uint32_t>(row.label.size());
      row.place.insert(static_cast<uint32_t>(label), at);
    } else {
      row.sum[at - 1] += step;
    }
    keep_weights_first(row, at);
    if (row.label.size() > static_cast<size_t>(n_labels_ / kFullShare)) fill(row);
  }

  // Before add(), some time.
  void prefetch(int32_t feature, int32_t label) const {
    const Row& row = rows_[feature];
    if (row.is_full()) {
      __builtin_prefetch(row.sum.data() + label);
    } else {
      row.place.prefetch(static_cast<uint32_t>(label));
    }
  }

  // Calls visit(label, weight) for every label with a weight, in no order.
  template <class Visit>
  void visit(int32_t feature, const Visit& visit) const {
    const Row& row = rows_[feature];
    if (!row.is_full()) {
      for (uint32_t at = 0; at < row.n_weights; ++at) visit(row.label[at], shrunk(row.sum[at], threshold_));
      return;
    }
    for (int32_t label = 0; label < n_labels_; ++label) {
      const float weight = shrunk(row.sum[label], threshold_);
      if (weight != 0) visit(label, weight);
    }
  }

  // Adds the weights of a feature times its value to the scores of the labels.
  void add_scores(int32_t feature, float value, LabelScores& scores) const {
    const Row& row = rows_[feature];
    if (!row.is_full()) {
      for (uint32_t at = 0; at < row.n_weights; ++at) {
        scores.add(row.label[at], value * shrunk(row.sum[at], threshold_));
      }
      return;
    }
    lane_kernels().add_shrunk(row.sum.data(), n_labels_, threshold_, value, scores.of_all());
  }

 private:
  // A row with more than this share of all labels is an array of all: that takes no more memory than a map.
  static constexpr int32_t kFullShare = 4;

  // Labels with a weight come first, so that who wants all weights meets no others. A full row has no list of
  // labels.
  struct Row {
    FeatureMap place;  // of a label, counted from 1
    std::vector<int32_t> label;
    std::vector<float> sum;
    uint32_t n_weights = 0;

    bool is_full() const { return label.size() < sum.size(); }
  };

  void keep_weights_first(Row& row, uint32_t at) const {
    const bool has_weight = std::abs(row.sum[at - 1]) > threshold_;
    if (has_weight == (at <= row.n_weights)) return;
    // The neighbour of the border on its other side changes places with it.
    const uint32_t border = has_weight ? ++row.n_weights : row.n_weights--;
    std::swap(row.label[at - 1], row.label[border - 1]);
    std::swap(row.sum[at - 1], row.sum[border - 1]);
    row.place.assign(static_cast<uint32_t>(row.label[at - 1]), at);
    row.place.assign(static_cast<uint32_t>(row.label[border - 1]), border);
  }

  void fill(Row& row) const {
    Row full;
    full.sum.assign(n_labels_, 0.0f);
    for (size_t at = 0; at < row.label.size(); ++at) full.sum[row.label[at]] = row.sum[at];
    row = std::move(full);
  }

  int32_t n_labels_;
  float threshold_;
  std::vector<Row> rows_;
};

}  // namespace labeltree
