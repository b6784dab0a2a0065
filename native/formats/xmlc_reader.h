// Reads the XMLC repository's text format, and libsvm multi-label files, into CSR arrays.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "formats/xmlc_row_parser.h"

namespace labeltree {

enum class HeaderRule {
  kAbsent,    // the first line is a row
  kOptional,  // three numbers on the first line, which no row can be, are a header
  kRequired,
};

struct TextFormat {
  HeaderRule header = HeaderRule::kOptional;
  int64_t first_feature = 0;  // the id of column 0
  int64_t first_label = 0;    // likewise
  std::optional<int64_t>
      n_features;  // the number of columns; what the header says, or the ids need, when not given
  std::optional<int64_t> n_labels;
  bool comments = false;          // '#' begins a comment
  int64_t chunk_bytes = 1 << 20;  // what a thread parses at a time
};

// An array that is filled by its maker and then handed on.
template <class T>
struct OwnedArray {
  OwnedArray() = default;
  explicit OwnedArray(int64_t size) : items(std::make_unique_for_overwrite<T[]>(size)), size(size) {}
  std::unique_ptr<T[]> items;
  int64_t size = 0;
};

// Two CSR matrices with the same rows: features with their values, and labels.
struct LabelledRows {
  int64_t n_features = 0;
  int64_t n_labels = 0;
  OwnedArray<int64_t> feature_indptr;
  OwnedArray<int32_t> feature_ids;
  OwnedArray<float> values;
  OwnedArray<int64_t> label_indptr;
  OwnedArray<int32_t> label_ids;
};

// The result, and the error reported for a faulty text, are the same for any number of threads.
LabelledRows read_text_format(std::string_view text, const TextFormat& format, int n_threads);

}  // namespace labeltree
