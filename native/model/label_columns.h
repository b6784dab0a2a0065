// One linear classifier for each label, apart from the trees: asked about single pairs of a row and a label.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "core/feature_matrix.h"
#include "core/span.h"
#include "model/block_store.h"
#include "model/weight_decoding.h"

namespace labeltree {

// Label l has the features feature[begin[l] .. begin[l + 1]), ascending, with their weights as float32,
// bfloat16 or int8 (times a scale per label), and the weights dense_weight[l * n_dense ..] of dense features.
// Its score starts from bias[l].
struct LabelColumnViews {
  int64_t n_features = 0;
  Span<int64_t> begin;
  Span<int32_t> feature;
  std::variant<Span<float>, Span<uint16_t>, Span<int8_t>> weight;
  Span<float> bias;
  Span<float> scale;  // with int8 weights only
  FeatureRange dense;
  Span<float> dense_weight;
};

// A row whose values can be read by feature.
class SpreadRow {
 public:
  void set(const FeatureMatrix& features, int64_t row);

  // Of the sparse features, ascending, each once.
  const std::vector<int32_t>& features() const { return row_.index; }
  float value(int32_t feature) const { return value_[feature]; }
  const float* values() const { return value_.data(); }
  const float* dense() const { return row_.dense.data(); }

 private:
  FeatureRow row_;
  std::vector<float> value_;  // of every feature, 0 for those that the row does not have
};

// Read-only, re-entrant, over arrays that may be a mapped file.
class LabelColumns {
 public:
  // Checks everything but the insides of columns, each of which is checked when first used; throws
  // CorruptModel.
  explicit LabelColumns(const LabelColumnViews& views);
  ~LabelColumns();
  LabelColumns(const LabelColumns&) = delete;
  LabelColumns& operator=(const LabelColumns&) = delete;

  int32_t n_labels() const { return static_cast<int32_t>(views_.bias.size); }
  int64_t n_features() const { return views_.n_features; }
  const FeatureRange& dense() const { return views_.dense; }

  // The weights times the row, and the bias. Products are summed in eight parts, in the order of the
  // features: those of the i-th, (i + 8)-th, ... feature of the label are a part. So the score is the same to
  // the last bit whether the features of the label are looked up in the row or those of the row at the label,
  // and on every processor.
  float score(const SpreadRow& row, int32_t label) const;

  // Calls visit(feature, weight) for every stored weight of a label.
  template <class Visit>
  void visit_column(int32_t label, const Visit& visit) const;

  // Checks the insides of all columns; throws CorruptModel.
  void verify() const;

 private:
  struct Column {
    const int32_t* feature;
    int64_t begin, n;
  };
  Column column(int32_t label) const {
    if (!checked_[label].load(std::memory_order_relaxed)) verify_column(label);
    const int64_t begin = views_.begin[label];
    return {views_.feature.data + begin, begin, views_.begin[label + 1] - begin};
  }
  void verify_column(int32_t label) const;
  const FeatureIndex& index(int32_t label) const;
  float scale(int32_t label) const { return views_.scale.size > 0 ? views_.scale[label] : 1.0f; }
  int64_t n_dense() const { return views_.dense.size(); }

  LabelColumnViews views_;
  // Per label: whether its column has been checked; and the index of a long column, once it was needed.
  std::unique_ptr<std::atomic<bool>[]> checked_;
  std::unique_ptr<std::atomic<const FeatureIndex*>[]> index_;
};

template <class Visit>
void LabelColumns::visit_column(int32_t label, const Visit& visit) const {
  const Column column = this->column(label);
  std::visit(
      [&](const auto& weights) {
        for (int64_t k = 0; k < column.n; ++k) {
          visit(column.feature[k], scale(label) * decode_weight(weights[column.begin + k]));
        }
      },
      views_.weight);
  for (int64_t d = 0; d < n_dense(); ++d) {
    const float weight = views_.dense_weight[label * n_dense() + d];
    if (weight != 0) visit(static_cast<int32_t>(views_.dense.begin + d), weight);
  }
}

}  // namespace labeltree
