#include "text/weighted_rows.h"

#include <algorithm>

#include "core/parallel_for.h"

namespace labeltree {

namespace {
constexpr int32_t kSmallCounts = 64;
}  // namespace

RowWeigher::RowWeigher(const TermWeights& weights) : weights_(weights) {
  std::vector<double> small(kSmallCounts);
  for (int32_t count = 0; count < kSmallCounts; ++count) small[count] = frequency(static_cast<float>(count));
  small_counts_ = std::move(small);
}

double RowWeigher::frequency(float count) const {
  // Weights may make a count less than 1, where the logarithm would become negative. The line through 0 has
  // the same value and the same slope at 1.
  if (!weights_.sublinear_tf || std::abs(count) < 1) return count;
  if (count > 0 && count < static_cast<float>(small_counts_.size())) {
    const auto whole = static_cast<size_t>(count);
    if (static_cast<float>(whole) == count) return small_counts_[whole];
  }
  return std::copysign(std::log(std::abs(static_cast<double>(count))) + 1, static_cast<double>(count));
}

void RowWeigher::write(std::span<WeighedFeature> row, int32_t* columns, float* values) {
  std::sort(row.begin(), row.end(),
            [](const WeighedFeature& a, const WeighedFeature& b) { return a.feature < b.feature; });
  values_.resize(row.size());
  double total = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    columns[i] = static_cast<int32_t>(row[i].feature);
    double value = frequency(row[i].amount);
    if (weights_.idf != nullptr) value *= weights_.idf[row[i].feature];
    values_[i] = value;
    total += weights_.norm == RowNorm::kL1 ? std::abs(value) : value * value;
  }
  if (weights_.norm == RowNorm::kL2) total = std::sqrt(total);
  const double divisor = weights_.norm == RowNorm::kNone || total == 0 ? 1 : total;
  for (size_t i = 0; i < row.size(); ++i) values[i] = static_cast<float>(values_[i] / divisor);
}

WeightedRows weigh_rows(std::vector<RowChunk>& chunks, size_t n_parts, const TermWeights& weights,
                        int n_threads) {
  WeightedRows out;
  out.indptr.push_back(0);
  std::vector<size_t> first_row;
  for (const RowChunk& chunk : chunks) {
    first_row.push_back(out.indptr.size() - 1);
    const int64_t before = out.indptr.back();
    for (size_t i = n_parts - 1; i < chunk.end.size(); i += n_parts) {
      out.indptr.push_back(before + static_cast<int64_t>(chunk.end[i]));
    }
  }
  out.indices = std::make_unique_for_overwrite<int32_t[]>(out.indptr.back());
  out.data = std::make_unique_for_overwrite<float[]>(out.indptr.back());
  std::vector<RowWeigher> weighers(std::max(n_threads, 1), RowWeigher(weights));
  parallel_for(n_threads, static_cast<int64_t>(chunks.size()), [&](int64_t i, int worker) {
    RowChunk chunk = std::exchange(chunks[i], {});  // its memory goes as soon as its rows are written
    size_t begin = 0;
    for (size_t k = n_parts - 1, row = first_row[i]; k < chunk.end.size(); k += n_parts, ++row) {
      weighers[worker].write(std::span(chunk.features).subspan(begin, chunk.end[k] - begin),
                             out.indices.get() + out.indptr[row], out.data.get() + out.indptr[row]);
      begin = chunk.end[k];
    }
  });
  return out;
}

}  // namespace labeltree
