// Small, fast, seedable random numbers that are the same on every platform.
#pragma once

#include <cstdint>
#include <utility>

namespace labeltree {

// SplitMix64: one multiply-xorshift chain per number; any seed is a good seed.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound), bound > 0 and below 2^32.
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(((next() >> 32) * bound) >> 32); }

  template <class T>
  void shuffle(T* items, uint32_t n) {
    for (uint32_t i = n; i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  uint64_t state_;
};

// A random number as one that is uniform in [0, 1).
inline double unit_number(uint64_t number) { return static_cast<double>(number >> 11) * 0x1p-53; }

// A seed for the part `part` of a computation seeded by `seed`, independent of who computes it.
inline uint64_t mix_seed(uint64_t seed, uint64_t part) {
  return Random(seed ^ (part * 0xd1342543de82ef95ull + 0x632be59bd9b4e019ull)).next();
}

}  // namespace labeltree
