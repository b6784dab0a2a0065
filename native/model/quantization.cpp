#include "model/quantization.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/parallel_for.h"

namespace labeltree {

namespace {

constexpr float kSteps = 127;
constexpr float kLeast = std::numeric_limits<float>::min();

template <class Column>
void quantize_block(const Column* column, const float* weight, int64_t n, float* scale, int64_t n_columns,
                    int8_t* out) {
  std::fill(scale, scale + n_columns, 0.0f);
  for (int64_t e = 0; e < n; ++e) {
    if (static_cast<int64_t>(column[e]) >= n_columns) throw std::invalid_argument("a column is out of range");
    const float size = std::fabs(weight[e]);
    float& largest = scale[column[e]];
    // A weight that is no number makes the scale infinite, too.
    largest = size <= std::numeric_limits<float>::max() ? std::max(largest, size)
                                                        : std::numeric_limits<float>::infinity();
  }
  for (int64_t c = 0; c < n_columns; ++c) {
    scale[c] = std::max(scale[c] / kSteps, kLeast);
  }
  for (int64_t e = 0; e < n; ++e) {
    const float step = scale[column[e]];
    out[e] = std::isfinite(step) ? static_cast<int8_t>(std::nearbyint(weight[e] / step)) : int8_t{0};
  }
}

}  // namespace

QuantizedWeights quantize(const ColumnEntries& entries, int n_threads) {
  const int64_t n_blocks = entries.first_column.size;
  const Span<int64_t>& begin = entries.block_entry_begin;
  const int64_t n_given = std::visit([](const auto& s) { return s.size; }, entries.column);
  bool fits = begin.size == n_blocks + 1 && entries.block_columns.size == n_blocks &&
              n_given == entries.weight.size && begin[0] == 0 && begin[n_blocks] == n_given;
  for (int64_t b = 0; fits && b < n_blocks; ++b) {
    const int64_t first = entries.first_column[b], n = entries.block_columns[b];
    fits = begin[b] <= begin[b + 1] && first >= 0 && n >= 0 && n <= entries.n_columns &&
           first <= entries.n_columns - n;
  }
  if (!fits) throw std::invalid_argument("the blocks, columns and weights to round contradict each other");
  QuantizedWeights result;
  result.weight.resize(n_given);
  result.scale.assign(entries.n_columns, kLeast);
  std::visit(
      [&](const auto& column) {
        parallel_for(n_threads, n_blocks, [&](int64_t b, int) {
          quantize_block(column.data + begin[b], entries.weight.data + begin[b], begin[b + 1] - begin[b],
                         result.scale.data() + entries.first_column[b], entries.block_columns[b],
                         result.weight.data() + begin[b]);
        });
      },
      entries.column);
  return result;
}

}  // namespace labeltree
