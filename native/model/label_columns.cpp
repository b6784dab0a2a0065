#include "model/label_columns.h"

#include <algorithm>
#include <limits>
#include <string>

#include "model/corrupt_model.h"
#include "model/feature_index.h"

namespace labeltree {

namespace {

constexpr int kParts = 8;
// Looking a feature of the row up at the label takes as long as this many features of the label in the row.
constexpr int64_t kLookUpCost = 6;

float sum_of_parts(const float* part) {
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

// value_of(k) is the k-th of n numbers that are multiplied by the weights.
template <class Weight, class ValueOf>
float sum_products(const Weight* weight, int64_t n, const ValueOf& value_of) {
  float part[kParts] = {};
  int64_t k = 0;
  for (; k + kParts <= n; k += kParts) {
    for (int j = 0; j < kParts; ++j) part[j] += decode_weight(weight[k + j]) * value_of(k + j);
  }
  for (int j = 0; k < n; ++k, ++j) part[j] += decode_weight(weight[k]) * value_of(k);
  return sum_of_parts(part);
}

}  // namespace

void SpreadRow::set(const FeatureMatrix& features, int64_t row) {
  if (static_cast<int64_t>(value_.size()) < features.n_features()) value_.resize(features.n_features(), 0.0f);
  for (const int32_t feature : row_.index) value_[feature] = 0;
  row_.clear();
  features.append(row, row_);
  std::vector<int32_t>& index = row_.index;
  for (size_t k = 0; k < index.size(); ++k) value_[index[k]] += row_.value[k];
  if (!std::is_sorted(index.begin(), index.end())) std::sort(index.begin(), index.end());
  index.erase(std::unique(index.begin(), index.end()), index.end());
}

LabelColumns::LabelColumns(const LabelColumnViews& views) : views_(views) {
  const auto require = [](bool good, const char* what) {
    if (!good) throw CorruptModel(std::string("label classifiers: ") + what);
  };
  const int64_t n_labels = views_.bias.size;
  require(n_labels >= 1 && n_labels <= std::numeric_limits<int32_t>::max(),
          "the number of biases is out of range");
  require(views_.n_features >= 1 && views_.n_features <= std::numeric_limits<int32_t>::max(),
          "the number of features is out of range");
  require(views_.begin.size == n_labels + 1, "begin has the wrong length");
  require(views_.begin[0] == 0 && views_.begin[n_labels] == views_.feature.size,
          "begin does not span the features");
  for (int64_t l = 0; l < n_labels; ++l) {
    require(views_.begin[l] <= views_.begin[l + 1], "begin decreases");
    // The index of a column counts in 32 bits.
    require(views_.begin[l + 1] - views_.begin[l] <= views_.n_features,
            "a label has more weights than features");
  }
  require(std::visit([](const auto& s) { return s.size; }, views_.weight) == views_.feature.size,
          "there are not as many weights as features");
  const bool quantized = std::holds_alternative<Span<int8_t>>(views_.weight);
  require(views_.scale.size == (quantized ? n_labels : 0), "the number of scales does not fit the weights");
  const FeatureRange& dense = views_.dense;
  require(dense.begin >= 0 && dense.begin <= dense.end && dense.end <= views_.n_features &&
              (dense.begin == 0 || dense.end == views_.n_features || dense.size() == 0),
          "the dense features are not the first or the last of the features");
  // Divided, not multiplied: the numbers of a hostile file could overflow.
  require(dense.size() == 0 ? views_.dense_weight.size == 0
                            : views_.dense_weight.size % dense.size() == 0 &&
                                  views_.dense_weight.size / dense.size() == n_labels,
          "the number of weights of dense features does not fit the labels");
  checked_ = std::make_unique<std::atomic<bool>[]>(n_labels);
  index_ = std::make_unique<std::atomic<const FeatureIndex*>[]>(n_labels);
}

LabelColumns::~LabelColumns() {
  if (!index_) return;
  for (int32_t l = 0; l < n_labels(); ++l) delete index_[l].load();
}

void LabelColumns::verify_column(int32_t label) const {
  const auto fail = [&](const char* what) {
    throw CorruptModel("label classifier " + std::to_string(label) + ": " + what);
  };
  for (int64_t k = views_.begin[label]; k < views_.begin[label + 1]; ++k) {
    const int32_t feature = views_.feature[k];
    if (feature < 0 || feature >= views_.n_features) fail("a feature is out of range");
    if (k > views_.begin[label] && feature <= views_.feature[k - 1]) fail("features are not ascending");
    if (views_.dense.contains(feature)) fail("a dense feature is among the sparse ones");
  }
  checked_[label].store(true, std::memory_order_relaxed);
}

void LabelColumns::verify() const {
  for (int32_t l = 0; l < n_labels(); ++l) verify_column(l);
}

// Two threads may both make it; the first to be ready is kept.
const FeatureIndex& LabelColumns::index(int32_t label) const {
  const FeatureIndex* kept = index_[label].load(std::memory_order_acquire);
  if (kept != nullptr) return *kept;
  const int64_t begin = views_.begin[label];
  auto made = std::make_unique<const FeatureIndex>(views_.feature.data + begin,
                                                   views_.begin[label + 1] - begin, views_.n_features);
  if (index_[label].compare_exchange_strong(kept, made.get(), std::memory_order_acq_rel))
    kept = made.release();
  return *kept;
}

float LabelColumns::score(const SpreadRow& row, int32_t label) const {
  const Column column = this->column(label);
  const std::vector<int32_t>& features = row.features();
  const float sparse = std::visit(
      [&](const auto& weights) {
        const auto* weight = weights.data + column.begin;
        if (kLookUpCost * static_cast<int64_t>(features.size()) >= column.n) {
          return sum_products(weight, column.n, [&](int64_t k) { return row.value(column.feature[k]); });
        }
        const FeatureIndex& index = this->index(label);
        float part[kParts] = {};
        const size_t n_features = features.size();
        constexpr size_t chunk = FeatureIndex::kAtATime;
        uint32_t which[chunk], at[chunk];
        for (size_t begin = 0; begin < n_features; begin += chunk) {
          const int32_t* wanted = features.data() + begin;
          const int n_found =
              index.find(wanted, static_cast<int>(std::min(chunk, n_features - begin)), which, at);
          for (int i = 0; i < n_found; ++i) {
            part[at[i] % kParts] += decode_weight(weight[at[i]]) * row.value(wanted[which[i]]);
          }
        }
        return sum_of_parts(part);
      },
      views_.weight);
  const float* dense = row.dense();
  const float of_dense = n_dense() == 0 ? 0.0f
                                        : sum_products(views_.dense_weight.data + label * n_dense(),
                                                       n_dense(), [&](int64_t d) { return dense[d]; });
  return views_.bias[label] + scale(label) * sparse + of_dense;
}

}  // namespace labeltree
