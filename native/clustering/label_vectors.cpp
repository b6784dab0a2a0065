#include "clustering/label_vectors.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/label_examples.h"
#include "core/parallel_for.h"

namespace labeltree {

namespace {

constexpr int64_t kVectorsPerTask = 256;

// A dense sum that knows which features it touched.
class SparseSum {
 public:
  explicit SparseSum(int64_t n_features) : sum_(n_features, 0.0f), is_touched_(n_features, 0) {}

  void add(const FeatureRow& row, float weight) {
    for (size_t k = 0; k < row.index.size(); ++k) {
      const int32_t feature = row.index[k];
      sum_[feature] += weight * row.value[k];
      if (is_touched_[feature]) continue;
      is_touched_[feature] = 1;
      touched_.push_back(feature);
    }
  }

  // Appends the unit vector without its entries below `prune` to `out`, in no order, and forgets it.
  void take(float prune, FeatureRow& out) {
    double squares = 0;
    float largest = 0;
    for (const int32_t f : touched_) {
      squares += static_cast<double>(sum_[f]) * sum_[f];
      largest = std::max(largest, std::fabs(sum_[f]));
    }
    const double scale = squares > 0 ? 1 / std::sqrt(squares) : 0;
    const double bound = std::min<double>(prune, largest * scale);
    const size_t begin = out.index.size();
    double kept = 0;
    for (const int32_t f : touched_) {
      const double value = sum_[f] * scale;
      sum_[f] = 0;
      is_touched_[f] = 0;
      if (value == 0 || !(std::fabs(value) >= bound)) continue;  // also a sum that overflowed
      out.index.push_back(f);
      out.value.push_back(static_cast<float>(value));
      kept += value * value;
    }
    touched_.clear();
    const float rescale = kept > 0 ? static_cast<float>(1 / std::sqrt(kept)) : 0;
    for (size_t k = begin; k < out.value.size(); ++k) out.value[k] *= rescale;
  }

 private:
  std::vector<float> sum_;
  std::vector<uint8_t> is_touched_;
  std::vector<int32_t> touched_;
};

}  // namespace

LabelVectors label_vectors(const Examples& examples, float prune, const LabelRange& range, int n_threads,
                           Progress& progress) {
  const FeatureMatrix& features = examples.features;
  const LabelExamples of_label(examples.labels, range);
  const int32_t n_labels = range.size();
  progress.start(n_labels);

  const int64_t n_tasks = (n_labels + kVectorsPerTask - 1) / kVectorsPerTask;
  LabelVectors vectors;
  vectors.n_features = features.n_features();
  vectors.begin.assign(n_labels + 1, 0);
  std::vector<FeatureRow> parts(n_tasks);
  std::vector<std::unique_ptr<SparseSum>> sums(std::max(n_threads, 1));
  parallel_ranges(n_threads, n_labels, kVectorsPerTask, [&](int64_t first, int64_t last, int worker) {
    if (!sums[worker]) sums[worker] = std::make_unique<SparseSum>(features.n_features());
    FeatureRow& part = parts[first / kVectorsPerTask];
    FeatureRow row;
    for (int64_t label = first; label < last; ++label) {
      progress.check();
      for (int64_t k = of_label.begin[label]; k < of_label.begin[label + 1]; ++k) {
        const int32_t example = of_label.rows[k];
        row.clear();
        features.append_entries(example, row);
        sums[worker]->add(row, examples.weight(example));
      }
      const size_t before = part.index.size();
      sums[worker]->take(prune, part);
      vectors.begin[label + 1] = static_cast<int64_t>(part.index.size() - before);
    }
    progress.advance(last - first);
  });

  for (int32_t j = 0; j < n_labels; ++j) vectors.begin[j + 1] += vectors.begin[j];
  vectors.index.reserve(vectors.begin[n_labels]);
  vectors.value.reserve(vectors.begin[n_labels]);
  for (FeatureRow& part : parts) {
    vectors.index.insert(vectors.index.end(), part.index.begin(), part.index.end());
    vectors.value.insert(vectors.value.end(), part.value.begin(), part.value.end());
    part = {};
  }
  return vectors;
}

LabelVectors cooccurrence_vectors(const Examples& examples, float prune, const LabelRange& range,
                                  int n_threads, Progress& progress) {
  const LabelMatrixView& labels = examples.labels;
  const std::vector<uint8_t> ones(labels.indptr[labels.n_rows], 1);
  Examples label_sets = examples;
  label_sets.features =
      FeatureMatrix::csr(labels.n_rows, examples.n_labels, labels.indptr, labels.indices, ones.data(), false);
  return label_vectors(label_sets, prune, range, n_threads, progress);
}

LabelVectors join_vectors(const LabelVectors& first, const LabelVectors& second) {
  LabelVectors joined;
  joined.n_features = first.n_features + second.n_features;
  joined.begin.reserve(first.begin.size());
  joined.begin.push_back(0);
  joined.index.reserve(first.index.size() + second.index.size());
  joined.value.reserve(first.value.size() + second.value.size());
  const auto append = [&](const LabelVectors& part, int32_t label, int64_t offset, float scale) {
    for (int64_t k = part.begin[label]; k < part.begin[label + 1]; ++k) {
      joined.index.push_back(static_cast<int32_t>(part.index[k] + offset));
      joined.value.push_back(part.value[k] * scale);
    }
  };
  const auto is_there = [](const LabelVectors& part, int32_t label) {
    return part.begin[label + 1] > part.begin[label];
  };
  for (int32_t label = 0; label < first.n_labels(); ++label) {
    const float scale = is_there(first, label) && is_there(second, label) ? std::sqrt(0.5f) : 1.0f;
    append(first, label, 0, scale);
    append(second, label, first.n_features, scale);
    joined.begin.push_back(static_cast<int64_t>(joined.index.size()));
  }
  return joined;
}

}  // namespace labeltree
