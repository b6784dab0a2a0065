// Weights rounded to int8: 127 steps up to the largest weight of a column.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "core/span.h"

namespace labeltree {

// The entries of some blocks, as in BlockArrays. Of all n_columns columns, block b has block_columns[b] from
// first_column[b] on, and no other block has these.
struct ColumnEntries {
  Span<int64_t> block_entry_begin;
  Span<int64_t> first_column, block_columns;
  std::variant<Span<uint8_t>, Span<uint16_t>, Span<uint32_t>> column;
  Span<float> weight;
  int64_t n_columns;
};

struct QuantizedWeights {
  std::vector<int8_t> weight;
  // Per column, the size of a step; not finite if one of its weights is not, which int8 cannot hold.
  std::vector<float> scale;
};

// Throws std::invalid_argument if the arrays contradict each other.
QuantizedWeights quantize(const ColumnEntries& entries, int n_threads);

}  // namespace labeltree
