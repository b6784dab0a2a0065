// Parses lines of "label,label feature:value feature:value".
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace labeltree {

// A line that is not what the format says.
struct TextFormatError : std::invalid_argument {
  TextFormatError(int64_t line, const std::string& message) : std::invalid_argument(message), line(line) {}
  int64_t line;  // the first line is 1
};

// The ids that a file may use for its features, or for its labels.
struct IdRange {
  std::string noun;    // "feature" or "label"
  int64_t first;       // the id of column 0
  int64_t size;        // ids lie in [first, first + size)
  std::string reason;  // why no more than `size`, for the error message
};

struct RowFormat {
  IdRange features;
  IdRange labels;
  bool comments;  // '#' begins a comment
};

// Rows one after the other, as in a CSR matrix. Ids are columns (from 0), ascending and distinct in a row.
struct ParsedRows {
  std::vector<int64_t> feature_ends;  // per row, the end of its features in feature_ids and values
  std::vector<int64_t> label_ends;
  std::vector<int32_t> feature_ids;
  std::vector<float> values;
  std::vector<int32_t> label_ids;
  int64_t n_features = 0;  // largest column + 1
  int64_t n_labels = 0;
  int64_t n_lines = 0;  // rows and comments
};

// Parses whole lines: `text` is empty or ends with a newline. Throws TextFormatError with a line number that
// counts from the start of `text`.
ParsedRows parse_rows(std::string_view text, const RowFormat& format);

// `text` in single quotes for an error message: cut when long, bytes that do not print as \xNN.
std::string quoted(std::string_view text);

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace labeltree
