// The labels of the examples as a sparse matrix.
#pragma once

#include <cstdint>

namespace labeltree {

// The labels of the examples: row i has labels indices[indptr[i] .. indptr[i + 1]).
struct LabelMatrixView {
  int64_t n_rows;
  const int64_t* indptr;
  const int32_t* indices;
};

}  // namespace labeltree
