// A vocabulary while it grows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/row_counts.h"
#include "text/term_hash.h"
#include "text/term_index.h"

namespace labeltree {

// Terms, numbered as they come, and how often they came.
class TermCounts {
 public:
  // The number of a term, which is new if it was not there.
  uint32_t number(std::string_view term) { return number(term, table_hash(term)); }

  // The terms of a piece of a text, each once.
  void count_times(std::span<const CountedFeature> piece) {
    for (const CountedFeature& one : piece) terms_[one.feature].n_times += one.amount;
  }
  // The terms of one more text, each once.
  template <class Amount>
  void count_text(const std::vector<RowFeature<Amount>>& row) {
    for (const RowFeature<Amount>& one : row) terms_[one.feature].n_texts += 1;
  }

  size_t size() const { return terms_.size(); }
  std::string_view term(uint32_t number) const {
    return std::string_view(text_).substr(terms_[number].begin, terms_[number].length);
  }
  int64_t n_texts(uint32_t number) const { return terms_[number].n_texts; }
  int64_t n_times(uint32_t number) const { return terms_[number].n_times; }

  // Takes the terms of another vocabulary over. The i-th entry is the number that its term i has here.
  std::vector<uint32_t> absorb(const TermCounts& other);

  // The numbers of the terms that from fewest_texts to most_texts texts have, in the order of the terms.
  std::vector<uint32_t> sorted(int64_t fewest_texts, int64_t most_texts, int n_threads) const;

 private:
  struct Term {
    uint64_t begin;
    int64_t n_times;
    uint32_t length;
    uint32_t n_texts;
  };

  uint32_t number(std::string_view term, uint32_t hash);

  std::string text_;
  std::vector<Term> terms_;
  TermIndex index_;
};

}  // namespace labeltree
