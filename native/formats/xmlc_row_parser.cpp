#include "formats/xmlc_row_parser.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <tuple>
#include <utility>

#include "formats/decimal_number.h"

namespace labeltree {
namespace {

class RowParser {
 public:
  RowParser(std::string_view text, const RowFormat& format)
      : p_(text.data()), end_(text.data() + text.size()), format_(format) {
    rows_.feature_ids.reserve(text.size() / 10);
    rows_.values.reserve(text.size() / 10);
  }

  ParsedRows parse() {
    for (; p_ != end_; ++p_) {
      ++rows_.n_lines;
      parse_line();
      if (*p_ != '\n') p_ = static_cast<const char*>(std::memchr(p_, '\n', end_ - p_));
    }
    return std::move(rows_);
  }

 private:
  // Leaves p_ at the line end, which may be "\r\n", or at the comment before it.
  void parse_line() {
    if (format_.comments) {
      const char* first = p_;
      while (is_blank(*first)) ++first;
      if (*first == '#') {
        p_ = first;
        return;
      }
    }
    if (!is_blank(*p_) && !at_line_end()) parse_labels();
    while (is_blank(*p_)) ++p_;
    while (!at_line_end()) parse_feature();
    finish_row();
  }

  bool at_line_end() const {
    return *p_ == '\n' || (*p_ == '\r' && p_[1] == '\n') || (*p_ == '#' && format_.comments);
  }

  // "3,17" at the start of a row. "3:0.5" is the first feature of a row without labels and is left alone.
  void parse_labels() {
    const char* const word = p_;
    int64_t id = parse_digits();
    if (*p_ == ':') {
      p_ = word;
      return;
    }
    const char* label = word;
    for (;;) {
      if (p_ == label) fail_at_label(word, label);
      rows_.label_ids.push_back(column(id, format_.labels, label));
      if (*p_ != ',') break;
      label = ++p_;
      id = parse_digits();
    }
    if (!is_blank(*p_) && !at_line_end()) fail_at_label(word, label);
  }

  // "3:0.5" and the blanks behind it.
  void parse_feature() {
    const char* const word = p_;
    const int64_t id = parse_digits();
    if (p_ == word || *p_ != ':') fail_at_feature(word);
    ++p_;
    float value;
    const char* const after = parse_decimal(p_, value);
    if (after == nullptr || !std::isfinite(value)) fail_at_value(word, p_);
    const char* const value_text = std::exchange(p_, after);
    if (is_blank(*p_)) {
      do ++p_;
      while (is_blank(*p_));
    } else if (!at_line_end()) {
      fail_at_value(word, value_text);
    }
    rows_.feature_ids.push_back(column(id, format_.features, word));
    rows_.values.push_back(value);
  }

  // The number at p_, saturated far above every id; p_ stays where it is when there is none.
  int64_t parse_digits() {
    const char* const begin = p_;
    int64_t number = 0;
    for (; is_digit(*p_) && p_ - begin < 18; ++p_) number = number * 10 + (*p_ - '0');
    for (; is_digit(*p_); ++p_) number = std::min(number, int64_t{1} << 58) * 10 + (*p_ - '0');
    return number;
  }

  int32_t column(int64_t id, const IdRange& range, const char* word) {
    const int64_t column = id - range.first;
    if (static_cast<uint64_t>(column) >= static_cast<uint64_t>(range.size)) [[unlikely]] {
      fail_out_of_range(range, word);
    }
    return static_cast<int32_t>(column);
  }

  void finish_row() {
    const int64_t labels_begin = rows_.label_ends.empty() ? 0 : rows_.label_ends.back();
    const auto labels = rows_.label_ids.begin() + labels_begin;
    if (!strictly_ascending(labels, rows_.label_ids.end())) {
      std::sort(labels, rows_.label_ids.end());
      rows_.label_ids.erase(std::unique(labels, rows_.label_ids.end()), rows_.label_ids.end());
    }
    const int64_t features_begin = rows_.feature_ends.empty() ? 0 : rows_.feature_ends.back();
    if (!strictly_ascending(rows_.feature_ids.begin() + features_begin, rows_.feature_ids.end())) {
      sort_features(features_begin);
    }
    const auto labels_end = static_cast<int64_t>(rows_.label_ids.size());
    const auto features_end = static_cast<int64_t>(rows_.feature_ids.size());
    rows_.label_ends.push_back(labels_end);
    rows_.feature_ends.push_back(features_end);
    if (labels_begin < labels_end)
      rows_.n_labels = std::max<int64_t>(rows_.n_labels, rows_.label_ids.back() + 1);
    if (features_begin < features_end) {
      rows_.n_features = std::max<int64_t>(rows_.n_features, rows_.feature_ids.back() + 1);
    }
  }

  template <class Iterator>
  static bool strictly_ascending(Iterator begin, Iterator end) {
    return std::adjacent_find(begin, end, std::greater_equal<>()) == end;
  }

  void sort_features(int64_t begin) {
    const auto end = static_cast<int64_t>(rows_.feature_ids.size());
    sorted_.clear();
    for (int64_t i = begin; i < end; ++i) sorted_.emplace_back(rows_.feature_ids[i], rows_.values[i]);
    const auto by_id = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::sort(sorted_.begin(), sorted_.end(), by_id);
    for (int64_t i = begin; i < end; ++i) {
      std::tie(rows_.feature_ids[i], rows_.values[i]) = sorted_[i - begin];
      if (i > begin && rows_.feature_ids[i] == rows_.feature_ids[i - 1]) {
        fail("expected every feature at most once in a row, got feature " +
             std::to_string(rows_.feature_ids[i] + format_.features.first) + " twice");
      }
    }
  }

  [[noreturn]] void fail(const std::string& message) const { throw TextFormatError(rows_.n_lines, message); }

  // The word that begins at `begin`: up to the next blank, line end or any of `delimiters`.
  std::string_view word_at(const char* begin, std::string_view delimiters = "") const {
    const char* end = begin;
    while (!is_blank(*end) && *end != '\n' && delimiters.find(*end) == delimiters.npos) ++end;
    if (*end == '\n' && end > begin && end[-1] == '\r') --end;
    return {begin, static_cast<size_t>(end - begin)};
  }

  [[noreturn]] void fail_at_label(const char* word, const char* label) const {
    const std::string_view text = word_at(word);
    if (word == label && text.find(':') != text.npos) fail_at_feature(word);
    if (*label == '-' && is_digit(label[1])) {
      fail("expected label ids that are not negative, got " + quoted(word_at(label, ",")));
    }
    fail("expected labels such as '3,17' or 'feature:value', got " + quoted(text));
  }

  [[noreturn]] void fail_at_feature(const char* word) const {
    if (*word == '-' && is_digit(word[1])) {
      fail("expected feature ids that are not negative, got " + quoted(word_at(word)));
    }
    fail("expected 'feature:value', got " + quoted(word_at(word)));
  }

  [[noreturn]] void fail_at_value(const char* word, const char* value_text) const {
    std::string name(word_at(value_text));
    if (name.starts_with('-') || name.starts_with('+')) name.erase(0, 1);
    for (char& c : name) c = static_cast<char>(c | 0x20);  // lower case
    float value;
    const bool too_large = parse_decimal(value_text, value) != nullptr && std::isinf(value);
    if (too_large || name == "nan" || name == "inf" || name == "infinity") {
      fail("expected a finite float32 as the value of a feature, got " + quoted(word_at(word)));
    }
    fail("expected 'feature:value' with a number, got " + quoted(word_at(word)));
  }

  [[noreturn]] void fail_out_of_range(const IdRange& range, const char* word) const {
    const std::string allowed = range.size == 0 ? "no " + range.noun + " ids"
                                                : range.noun + " ids from " + std::to_string(range.first) +
                                                      " to " + std::to_string(range.first + range.size - 1);
    fail("expected " + allowed + " (" + range.reason + "), got " + quoted(word_at(word, ",:")));
  }

  const char* p_;
  const char* const end_;
  const RowFormat& format_;
  ParsedRows rows_;
  std::vector<std::pair<int32_t, float>> sorted_;
};

}  // namespace

ParsedRows parse_rows(std::string_view text, const RowFormat& format) {
  return RowParser(text, format).parse();
}

std::string quoted(std::string_view text) {
  constexpr size_t kLongest = 40;
  constexpr char kHex[] = "0123456789abcdef";
  std::string result = "'";
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      result += c;
    } else {
      result += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return result + (text.size() > kLongest ? "...'" : "'");
}

}  // namespace labeltree
