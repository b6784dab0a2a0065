#include "text/term_counts.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "core/parallel_for.h"

namespace labeltree {

namespace {

// The first bytes decide most comparisons, without a look at the term.
struct SortedTerm {
  uint64_t first_bytes;
  uint32_t number;
};

uint64_t first_bytes(std::string_view term) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < 8; ++i) bytes = bytes << 8 | (i < term.size() ? static_cast<uint8_t>(term[i]) : 0);
  return bytes;
}

// Sorts runs, then merges them two by two.
template <class Item, class Before>
void parallel_sort(std::vector<Item>& items, const Before& before, int n_threads) {
  const size_t n_runs = std::bit_ceil(static_cast<size_t>(std::max(n_threads, 1)));
  const auto bound = [&](size_t run) { return items.begin() + items.size() * run / n_runs; };
  parallel_for(n_threads, n_runs, [&](int64_t run, int) { std::sort(bound(run), bound(run + 1), before); });
  for (size_t merged = 2; merged <= n_runs; merged *= 2) {
    parallel_for(n_threads, n_runs / merged, [&](int64_t pair, int) {
      const size_t first = pair * merged;
      std::inplace_merge(bound(first), bound(first + merged / 2), bound(first + merged), before);
    });
  }
}

}  // namespace

uint32_t TermCounts::number(std::string_view term, uint32_t hash) {
  const uint32_t found = index_.find(hash, [&](uint32_t i) { return this->term(i) == term; });
  if (found != TermIndex::kAbsent) return found;
  if (terms_.size() >= INT32_MAX - 1) {
    throw std::length_error(
        "the texts have more than 2,147,483,646 different terms: use shorter n-grams, or n_features");
  }
  const auto added = static_cast<uint32_t>(terms_.size());
  terms_.push_back({text_.size(), 0, static_cast<uint32_t>(term.size()), 0});
  text_ += term;
  index_.insert(hash, added);
  return added;
}

std::vector<uint32_t> TermCounts::absorb(const TermCounts& other) {
  std::vector<uint32_t> numbers(other.size());
  other.index_.visit([&](uint32_t hash, uint32_t theirs) {
    const uint32_t ours = number(other.term(theirs), hash);
    terms_[ours].n_texts += other.terms_[theirs].n_texts;
    terms_[ours].n_times += other.terms_[theirs].n_times;
    numbers[theirs] = ours;
  });
  return numbers;
}

std::vector<uint32_t> TermCounts::sorted(int64_t fewest_texts, int64_t most_texts, int n_threads) const {
  std::vector<SortedTerm> kept;
  for (uint32_t i = 0; i < terms_.size(); ++i) {
    if (n_texts(i) >= fewest_texts && n_texts(i) <= most_texts) kept.push_back({first_bytes(term(i)), i});
  }
  parallel_sort(
      kept,
      [this](const SortedTerm& a, const SortedTerm& b) {
        if (a.first_bytes != b.first_bytes) return a.first_bytes < b.first_bytes;
        return term(a.number) < term(b.number);
      },
      n_threads);
  std::vector<uint32_t> numbers(kept.size());
  std::transform(kept.begin(), kept.end(), numbers.begin(), [](const SortedTerm& t) { return t.number; });
  return numbers;
}

}  // namespace labeltree
