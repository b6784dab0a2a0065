// Which row of a growing matrix belongs to a feature.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace labeltree {

// A Robin Hood hash map from features to row numbers: open addressing, and whoever is farther from home gets
// the slot, so that the table can be filled to seven eighths and features are still found in a few steps.
// Row 0 means that a feature is not there.
class FeatureMap {
 public:
  uint32_t find(uint32_t feature) const {
    if (slots_.empty()) return 0;
    uint32_t at = home(feature);
    for (uint32_t distance = 0;; ++distance, at = after(at)) {
      const Slot& slot = slots_[at];
      if (slot.feature == feature) return slot.row;  // 0 also where feature 0 meets an empty slot
      if (slot.row == 0 || this->distance(at) < distance) return 0;
    }
  }

  // After this, n more features need no memory.
  void reserve(size_t n) {
    while ((size_ + n) * 8 > slots_.size() * 7) grow();
  }

  // The feature must not be there yet.
  void insert(uint32_t feature, uint32_t row) {
    if ((size_ + 1) * 8 > slots_.size() * 7) grow();
    place({feature, row});
    ++size_;
  }

  // The feature must be there.
  void assign(uint32_t feature, uint32_t row) {
    uint32_t at = home(feature);
    while (slots_[at].feature != feature || slots_[at].row == 0) at = after(at);
    slots_[at].row = row;
  }

  void prefetch(uint32_t feature) const {
    if (!slots_.empty()) __builtin_prefetch(slots_.data() + home(feature));
  }

  // Calls visit(feature, row) for every feature, in no order.
  template <class Visit>
  void visit(const Visit& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.row != 0) visit(slot.feature, slot.row);
    }
  }

  int64_t size() const { return static_cast<int64_t>(size_); }
  int64_t n_bytes() const { return static_cast<int64_t>(slots_.capacity() * sizeof(Slot)); }

 private:
  struct Slot {
    uint32_t feature = 0;
    uint32_t row = 0;
  };

  uint32_t home(uint32_t feature) const {
    uint32_t hash = feature * 0x9e3779b1u;
    hash = (hash ^ (hash >> 15)) * 0x85ebca6bu;
    return static_cast<uint32_t>((static_cast<uint64_t>(hash) * slots_.size()) >> 32);
  }
  uint32_t after(uint32_t at) const { return at + 1 == slots_.size() ? 0 : at + 1; }
  uint32_t distance(uint32_t at) const {
    const uint32_t from = home(slots_[at].feature);
    return at >= from ? at - from : at + static_cast<uint32_t>(slots_.size()) - from;
  }

  void place(Slot slot) {
    uint32_t at = home(slot.feature);
    for (uint32_t distance = 0; slots_[at].row != 0; ++distance, at = after(at)) {
      const uint32_t here = this->distance(at);
      if (here < distance) {
        std::swap(slot, slots_[at]);
        distance = here;
      }
    }
    slots_[at] = slot;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() + slots_.size() / 2 + 8);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.row != 0) place(slot);
    }
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace labeltree
