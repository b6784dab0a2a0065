// Where in a block a feature is: a bitmap with ranks, in levels.
#pragma once

#include <cstdint>
#include <vector>

namespace labeltree {

// A word has a bit for each of 32 neighbours. On the last level they are features, above it words of the next
// level. `rank` is the place of the first neighbour whose bit is set; the place of another one is the rank
// plus the number of set bits below its own. Words without bits are stored on the first level only. A block
// with many of all features has one level, where a look-up is one access to memory. A block with few has more
// levels, which together take about as much memory as its features.
class FeatureIndex {
 public:
  // The maximum number of features that are looked up at a time.
  static constexpr int kAtATime = 64;

  // The features are ascending and less than n_features.
  FeatureIndex(const int32_t* feature, int64_t n, int64_t n_features);

  // Looks up n features, at most kAtATime. Of those that the block has, writes which of the wanted ones they
  // are, in order, and their places in the block; returns how many. There is room for n.
  int find(const int32_t* wanted, int n, uint32_t* which, uint32_t* place) const;

 private:
  struct Word {
    uint32_t bits = 0;
    uint32_t rank = 0;
  };

  static int find_portably(const FeatureIndex& index, const int32_t* wanted, int n, uint32_t* which,
                           uint32_t* place);
  static int find_by_popcnt(const FeatureIndex& index, const int32_t* wanted, int n, uint32_t* which,
                            uint32_t* place);
  static auto* best_find();
  int find_in_levels(const int32_t* wanted, int n, uint32_t* which, uint32_t* place) const;

  int n_levels_ = 1;
  std::vector<Word> words_;  // the first level first
};

}  // namespace labeltree
