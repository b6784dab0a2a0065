// Rows of counted features, and the sparse matrix that they become.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "text/row_counts.h"

namespace labeltree {

enum class RowNorm { kNone, kL1, kL2 };

struct TermWeights {
  bool sublinear_tf = false;  // counts n of 1 or more are log(n) + 1
  RowNorm norm = RowNorm::kL2;
  const double* idf = nullptr;  // by which a column is multiplied, or null
};

// Some rows in a row, made by one worker.
struct RowChunk {
  int worker = 0;
  std::vector<WeighedFeature> features;
  std::vector<size_t> end;  // of every row, and of every part of it, one after the other
};

struct WeightedRows {
  std::vector<int64_t> indptr;
  std::unique_ptr<int32_t[]> indices;
  std::unique_ptr<float[]> data;
};

// Adds up weights of a row and turns them into numbers of the matrix.
class RowWeigher {
 public:
  explicit RowWeigher(const TermWeights& weights);

  // Sorts the features of a row by column and writes columns and values.
  void write(std::span<WeighedFeature> row, int32_t* columns, float* values);

 private:
  double frequency(float count) const;

  TermWeights weights_;
  std::vector<double> small_counts_;  // the frequencies of small counts
  std::vector<double> values_;
};

// Makes terms columns by column_of(part, term); those that have none (UINT32_MAX) are left out.
template <class ColumnOf>
void find_columns(RowChunk& chunk, size_t n_parts, const ColumnOf& column_of) {
  size_t kept = 0, begin = 0;
  for (size_t i = 0; i < chunk.end.size(); ++i) {
    for (size_t k = begin; k < chunk.end[i]; ++k) {
      const uint32_t column = column_of(i % n_parts, chunk.features[k].feature);
      if (column != UINT32_MAX) chunk.features[kept++] = {column, chunk.features[k].amount};
    }
    begin = chunk.end[i];
    chunk.end[i] = kept;
  }
  chunk.features.resize(kept);
}

// The rows of chunks whose features are columns, one after the other; the chunks are used up.
WeightedRows weigh_rows(std::vector<RowChunk>& chunks, size_t n_parts, const TermWeights& weights,
                        int n_threads);

}  // namespace labeltree
