#include "embedding/hidden_transform.h"

#include <cmath>

namespace labeltree {

void divide_by_sum(float* values, size_t n) {
  double sum = 0;
  for (size_t k = 0; k < n; ++k) sum += std::abs(values[k]);
  if (sum <= 0) return;
  for (size_t k = 0; k < n; ++k) values[k] = static_cast<float>(values[k] / sum);
}

void HiddenTransform::apply(FeatureRow& row, size_t begin) const {
  const size_t n = row.index.size() - begin, at = row.dense.size();
  if (mean_) divide_by_sum(row.value.data() + begin, n);
  row.dense.resize(at + words_.dimension);
  vector_kernels().sum(words_, row.index.data() + begin, row.value.data() + begin, static_cast<int64_t>(n),
                       row.dense.data() + at);
  row.index.resize(begin);
  row.value.resize(begin);
}

}  // namespace labeltree
