#include "rivals/fastxml/label_means.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/label_examples.h"
#include "core/parallel_for.h"

namespace labeltree {

namespace {

constexpr int64_t kMeansPerTask = 256;

}  // namespace

void scale_to_unit(std::vector<float>& values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  if (squares <= 0) return;
  const double scale = 1 / std::sqrt(squares);
  for (float& value : values) value = static_cast<float>(value * scale);
}

LabelMeans label_means(const Examples& examples, int n_threads, Progress& progress) {
  const FeatureMatrix& features = examples.features;
  const LabelExamples of_label(examples.labels, examples.n_labels);
  const int32_t n_labels = examples.n_labels;
  progress.start(n_labels);
  LabelMeans means;
  means.begin.assign(n_labels + 1, 0);
  means.square.assign(n_labels, 0.0f);
  std::vector<FeatureRow> parts((n_labels + kMeansPerTask - 1) / kMeansPerTask);
  std::vector<std::vector<double>> sums(std::max(n_threads, 1));  // per worker and feature
  parallel_ranges(n_threads, n_labels, kMeansPerTask, [&](int64_t first, int64_t last, int worker) {
    std::vector<double>& sum = sums[worker];
    sum.resize(features.n_features(), 0.0);
    FeatureRow& part = parts[first / kMeansPerTask];
    FeatureRow row;
    std::vector<int32_t> touched;
    for (int64_t label = first; label < last; ++label) {
      double total = 0;
      for (int64_t k = of_label.begin[label]; k < of_label.begin[label + 1]; ++k) {
        progress.check();
        const double weight = examples.weight(of_label.rows[k]);
        if (weight == 0) continue;
        total += weight;
        row.clear();
        features.append_entries(of_label.rows[k], row);
        scale_to_unit(row.value);
        for (size_t e = 0; e < row.index.size(); ++e) {
          sum[row.index[e]] += weight * row.value[e];
          touched.push_back(row.index[e]);
        }
      }
      std::sort(touched.begin(), touched.end());
      touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
      double square = 0;
      for (const int32_t feature : touched) {
        const auto value = static_cast<float>(sum[feature] / total);
        sum[feature] = 0;
        if (value == 0) continue;
        part.index.push_back(feature);
        part.value.push_back(value);
        square += static_cast<double>(value) * value;
        ++means.begin[label + 1];
      }
      touched.clear();
      means.square[label] = static_cast<float>(square);
    }
    progress.advance(last - first);
  });
  for (int32_t j = 0; j < n_labels; ++j) means.begin[j + 1] += means.begin[j];
  means.feature.reserve(means.begin[n_labels]);
  means.value.reserve(means.begin[n_labels]);
  for (FeatureRow& part : parts) {
    means.feature.insert(means.feature.end(), part.index.begin(), part.index.end());
    means.value.insert(means.value.end(), part.value.begin(), part.value.end());
    part = {};
  }
  return means;
}

}  // namespace labeltree
