// In which order incremental learning takes the examples of an epoch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/random.h"

namespace labeltree {

// An example has a key of its own in every epoch, so that it comes as early or late among any other examples.
class ExampleOrder {
 public:
  // The places 0 to n_rows - 1, ordered by the keys of their rows, whose numbers ascend. Valid until the next
  // call.
  const uint32_t* shuffle(uint64_t seed, int epoch, const int32_t* row_number, int64_t n_rows) {
    const uint64_t epoch_seed = mix_seed(seed, epoch);
    keys_.resize(n_rows);
    order_.resize(n_rows);
    for (int64_t i = 0; i < n_rows; ++i) {
      keys_[i] = (mix_seed(epoch_seed, row_number[i]) & ~0xffffffffull) | static_cast<uint64_t>(i);
    }
    std::sort(keys_.begin(), keys_.end());
    for (int64_t i = 0; i < n_rows; ++i) order_[i] = static_cast<uint32_t>(keys_[i]);
    return order_.data();
  }

 private:
  std::vector<uint64_t> keys_;
  std::vector<uint32_t> order_;
};

}  // namespace labeltree
