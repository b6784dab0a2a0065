#include "formats/xmlc_writer.h"

#include <charconv>

namespace labeltree {
namespace {

template <class Number>
void append_number(std::string& text, Number number) {
  char digits[24];
  const auto result = std::to_chars(digits, digits + sizeof digits, number);
  text.append(digits, result.ptr);
}

}  // namespace

std::string format_text_rows(std::span<const int64_t> feature_indptr, std::span<const int32_t> feature_ids,
                             std::span<const float> values, std::span<const int64_t> label_indptr,
                             std::span<const int32_t> label_ids) {
  std::string text;
  text.reserve(feature_ids.size() * 16 + label_ids.size() * 8 + label_indptr.size() * 2);
  for (size_t row = 0; row + 1 < label_indptr.size(); ++row) {
    const int64_t first_label = label_indptr[row] - label_indptr[0];
    const int64_t labels_end = label_indptr[row + 1] - label_indptr[0];
    for (int64_t i = first_label; i < labels_end; ++i) {
      if (i > first_label) text += ',';
      append_number(text, label_ids[i]);
    }
    const int64_t first_feature = feature_indptr[row] - feature_indptr[0];
    const int64_t features_end = feature_indptr[row + 1] - feature_indptr[0];
    for (int64_t i = first_feature; i < features_end; ++i) {
      text += ' ';
      append_number(text, feature_ids[i]);
      text += ':';
      append_number(text, values[i]);
    }
    if (first_label == labels_end && first_feature == features_end) text += ' ';
    text += '\n';
  }
  return text;
}

}  // namespace labeltree
