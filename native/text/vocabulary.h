// Terms in alphabetical order, looked up where they lie.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "text/term_hash.h"
#include "text/term_index.h"

namespace labeltree {

// Term i is text[begin[i] .. begin[i + 1]). The arrays must outlive the vocabulary, and may be mapped from a
// file that anybody wrote: whatever they hold is checked.
class Vocabulary {
 public:
  static constexpr uint32_t kAbsent = TermIndex::kAbsent;

  Vocabulary(std::string_view text, std::span<const int64_t> begin);

  size_t size() const { return begin_.size() - 1; }

  std::string_view term(size_t i) const { return text_.substr(begin_[i], begin_[i + 1] - begin_[i]); }

  uint32_t find(std::string_view term) const {
    return index_.find(table_hash(term), [&](uint32_t i) { return this->term(i) == term; });
  }

 private:
  std::string_view text_;
  std::span<const int64_t> begin_;
  TermIndex index_;
};

}  // namespace labeltree
