// Finds numbered terms by their hashes.
#pragma once

#include <cstdint>
#include <vector>

namespace labeltree {

// A hash table of term numbers by open addressing. The terms themselves are with the owner, which tells
// whether a number is that of the term it looks for.
class TermIndex {
 public:
  static constexpr uint32_t kAbsent = UINT32_MAX;

  // Reserves room for this number of terms.
  void reserve(size_t n_terms) {
    size_t n_slots = kFewestSlots;
    while (n_slots / 2 < n_terms) n_slots *= 2;
    if (n_slots > slots_.size()) resize(n_slots);
  }

  // The number of a term for which is_it(number), or kAbsent.
  template <class IsIt>
  uint32_t find(uint32_t hash, const IsIt& is_it) const {
    if (slots_.empty()) return kAbsent;
    for (size_t at = hash & mask();; at = (at + 1) & mask()) {
      const Slot& slot = slots_[at];
      if (slot.number == kAbsent || (slot.hash == hash && is_it(slot.number))) return slot.number;
    }
  }

  // The term must not be there yet.
  void insert(uint32_t hash, uint32_t number) {
    if ((size_ + 1) * 2 > slots_.size()) resize(slots_.empty() ? kFewestSlots : slots_.size() * 2);
    place({hash, number});
    ++size_;
  }

  // Calls visit(hash, number) for every term, in no order.
  template <class Visit>
  void visit(const Visit& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.number != kAbsent) visit(slot.hash, slot.number);
    }
  }

 private:
  static constexpr size_t kFewestSlots = 64;
  struct Slot {
    uint32_t hash = 0;
    uint32_t number = kAbsent;
  };

  size_t mask() const { return slots_.size() - 1; }

  void place(Slot slot) {
    size_t at = slot.hash & mask();
    while (slots_[at].number != kAbsent) at = (at + 1) & mask();
    slots_[at] = slot;
  }

  void resize(size_t n_slots) {
    std::vector<Slot> old(n_slots);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number != kAbsent) place(slot);
    }
  }

  std::vector<Slot> slots_;  // a power of two of them, at most half of them taken
  size_t size_ = 0;
};

}  // namespace labeltree
