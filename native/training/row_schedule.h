// In which order coordinate descent visits the rows, and which ones it passes over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/progress.h"
#include "core/random.h"

namespace labeltree {

// One pass after another: each visits the rows that are awake, in a new order. A row that did not
// move naps for one pass, then for two, then four, and so on.
class RowSchedule {
 public:
  void start(int64_t n_rows) {
    moved_.resize(n_rows);
    nap_.assign(n_rows, 0);
    wake_.assign(n_rows, 0);
    n_passes_ = 0;
  }

  // Calls visit(order, n) with the rows of the next pass, some at a time; it is to say in moved() which of
  // them moved. Returns how many rows that were.
  template <class Visit>
  int64_t pass(Random& random, const Progress& progress, const Visit& visit) {
    order_.clear();
    for (size_t i = 0; i < wake_.size(); ++i) {
      if (wake_[i] <= n_passes_) order_.push_back(static_cast<uint32_t>(i));
    }
    random.shuffle(order_.data(), static_cast<uint32_t>(order_.size()));
    for (size_t begin = 0; begin < order_.size(); begin += kRowsPerCall) {
      progress.check();
      visit(order_.data() + begin,
            std::min<int64_t>(kRowsPerCall, static_cast<int64_t>(order_.size() - begin)));
    }
    ++n_passes_;
    return static_cast<int64_t>(order_.size());
  }

  // After a pass: who moved naps no more, and if nobody did, all are woken.
  void settle(bool any_moved) {
    if (any_moved) {
      for (const uint32_t row : order_) {
        nap_[row] = moved_[row] ? 0 : std::clamp(2 * nap_[row], 1, kLongestNap);
        wake_[row] = static_cast<int32_t>(n_passes_ + nap_[row]);
      }
    } else {
      std::fill(wake_.begin(), wake_.end(), 0);
    }
  }

  uint8_t* moved() { return moved_.data(); }
  int64_t n_passes() const { return n_passes_; }

 private:
  // Rows between two looks at whether to stop: well under a second even for long rows.
  static constexpr size_t kRowsPerCall = 8192;
  static constexpr int kLongestNap = 8;

  std::vector<uint32_t> order_;
  std::vector<uint8_t> moved_, nap_;
  std::vector<int32_t> wake_;
  int64_t n_passes_ = 0;
};

}  // namespace labeltree
