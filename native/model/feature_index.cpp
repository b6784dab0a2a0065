#include "model/feature_index.h"

#include <bit>
#include <utility>

namespace labeltree {

FeatureIndex::FeatureIndex(const int32_t* feature, int64_t n, int64_t n_features) {
  // Levels are added until the first one, which has all its words, is small beside the features.
  int64_t n_first = (n_features + 31) / 32;
  for (; n_first > n / 2 + 16; n_first = (n_first + 31) / 32) ++n_levels_;

  std::vector<std::vector<Word>> levels;  // the last level first
  std::vector<int32_t> places, groups;
  for (int level = n_levels_; level > 0; --level) {
    std::vector<Word> words(level == 1 ? n_first : 0);
    if (level > 1) words.reserve(n);
    groups.clear();
    groups.reserve(n);
    for (int64_t i = 0; i < n; ++i) {
      const int32_t group = feature[i] / 32;
      if (groups.empty() || groups.back() != group) {
        groups.push_back(group);
        if (level > 1) words.emplace_back();
        (level > 1 ? words.back() : words[group]).rank = static_cast<uint32_t>(i);
      }
      (level > 1 ? words.back() : words[group]).bits |= uint32_t{1} << (feature[i] % 32);
    }
    levels.push_back(std::move(words));
    places.swap(groups);  // on the level above, these words are what features are here
    feature = places.data();
    n = static_cast<int64_t>(places.size());
  }
  for (; !levels.empty(); levels.pop_back()) {
    const auto next = static_cast<uint32_t>(words_.size() + levels.back().size());
    if (levels.size() > 1) {  // the places are those in words_
      for (Word& word : levels.back()) word.rank += next;
    }
    words_.insert(words_.end(), levels.back().begin(), levels.back().end());
  }
  words_.shrink_to_fit();
}

// No branch depends on what is found, since the processor could not predict it. All look-ups of a level are
// independent, so that it waits for many of them at a time.
[[gnu::always_inline]] inline int FeatureIndex::find_in_levels(const int32_t* wanted, int n, uint32_t* which,
                                                               uint32_t* place) const {
  int shift = 5 * n_levels_;
  for (int i = 0; i < n; ++i) {
    which[i] = static_cast<uint32_t>(i);
    place[i] = static_cast<uint32_t>(wanted[i]) >> shift;
  }
  for (shift -= 5; shift >= 0; shift -= 5) {
    int n_left = 0;
    for (int i = 0; i < n; ++i) {
      const Word word = words_[place[i]];
      const uint32_t k = which[i], bit = uint32_t{1} << (static_cast<uint32_t>(wanted[k]) >> shift & 31);
      which[n_left] = k;
      place[n_left] = word.rank + static_cast<uint32_t>(std::popcount(word.bits & (bit - 1)));
      n_left += (word.bits & bit) != 0;
    }
    n = n_left;
  }
  return n;
}

int FeatureIndex::find_portably(const FeatureIndex& index, const int32_t* wanted, int n, uint32_t* which,
                                uint32_t* place) {
  return index.find_in_levels(wanted, n, which, place);
}

#if defined(__x86_64__)
// Nearly every x86-64 counts bits in one instruction, but not the oldest, for which we compile.
[[gnu::target("popcnt")]] int FeatureIndex::find_by_popcnt(const FeatureIndex& index, const int32_t* wanted,
                                                           int n, uint32_t* which, uint32_t* place) {
  return index.find_in_levels(wanted, n, which, place);
}

auto* FeatureIndex::best_find() { return __builtin_cpu_supports("popcnt") ? find_by_popcnt : find_portably; }
#else
auto* FeatureIndex::best_find() { return find_portably; }
#endif

int FeatureIndex::find(const int32_t* wanted, int n, uint32_t* which, uint32_t* place) const {
  static const auto best = best_find();
  return best(*this, wanted, n, which, place);
}

}  // namespace labeltree
