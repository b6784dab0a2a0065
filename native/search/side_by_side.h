// Searches of one tree by a strategy: one alone, or many side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/interruption.h"
#include "search/tree_search.h"

namespace labeltree {

// Searches by a strategy, which start(strategy, tree, allowed, root) starts.
template <class Store, class Strategy, class Start>
void search_alone(TreeSearch<Store>& search, Strategy& strategy, const Start& start) {
  const Store& store = search.store();
  start(strategy, store.tree(), search.allowed(), search.expand(0)[0]);
  while (strategy.wanted() >= 0) strategy.give(search.expand(store.block_of(strategy.wanted())));
}

// Searches of the same tree that go side by side, each by its own strategy. In every round each names the
// block it wants next, and a block that several want is scored for all of them at once: with dense features
// that is a product of matrices, which reads the weights once.
template <class Store, class Strategy>
class SideBySide {
 public:
  void add(TreeSearch<Store>& search, Strategy& strategy) { searches_.push_back({&search, &strategy}); }

  template <class Start>
  void run(const Start& start) {
    wanted_.clear();
    for (auto& pair : searches_) wanted_.push_back({0, pair});
    for (bool first = true; !wanted_.empty(); first = false) {
      stop_if_interrupted();
      expand_wanted();
      size_t n_left = 0;
      for (const Wanted& w : wanted_) {
        auto [search, strategy] = w.pair;
        const float* p = search->expand(w.block);
        if (first) {
          start(*strategy, search->store().tree(), search->allowed(), p[0]);
        } else {
          strategy->give(p);
        }
        if (strategy->wanted() < 0) continue;
        wanted_[n_left++] = {search->store().block_of(strategy->wanted()), w.pair};
      }
      wanted_.resize(n_left);
    }
  }

 private:
  using Pair = std::pair<TreeSearch<Store>*, Strategy*>;
  struct Wanted {
    int32_t block;
    Pair pair;
  };

  void expand_wanted() {
    std::sort(wanted_.begin(), wanted_.end(),
              [](const Wanted& a, const Wanted& b) { return a.block < b.block; });
    for (size_t begin = 0, end; begin < wanted_.size(); begin = end) {
      const int32_t block = wanted_[begin].block;
      queries_.clear();
      places_.clear();
      for (end = begin; end < wanted_.size() && wanted_[end].block == block; ++end) {
        TreeSearch<Store>& search = *wanted_[end].pair.first;
        if (search.is_expanded(block)) continue;
        queries_.push_back(&search.query());
        places_.push_back(search.place(block));
      }
      const TreeSearch<Store>& any = *wanted_[begin].pair.first;
      any.store().probabilities(block, queries_, any.normalize_siblings(), places_);
    }
  }

  std::vector<Pair> searches_;
  std::vector<Wanted> wanted_;
  std::vector<const typename Store::Query*> queries_;
  std::vector<float*> places_;
};

}  // namespace labeltree
