// Hashes of terms.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace labeltree {

template <class T>
T load_bytes(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

// For tables in memory: quick, and nothing outside depends on its values.
inline uint32_t table_hash(std::string_view term) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
  const char* at = term.data();
  const size_t size = term.size();
  uint64_t hash = size * kFactor;
  const auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 29;
  };
  if (size >= 8) {
    for (size_t i = 8; i < size; i += 8) mix(load_bytes<uint64_t>(at + i - 8));
    mix(load_bytes<uint64_t>(at + size - 8));  // overlaps what came before, rather than a loop over the rest
  } else if (size >= 4) {
    mix(uint64_t{load_bytes<uint32_t>(at)} << 32 | load_bytes<uint32_t>(at + size - 4));
  } else if (size > 0) {
    const auto byte = [at](size_t i) { return static_cast<uint64_t>(static_cast<uint8_t>(at[i])); };
    mix(byte(0) << 16 | byte(size / 2) << 8 | byte(size - 1));
  }
  hash *= kFactor;
  return static_cast<uint32_t>(hash >> 32);
}

// MurmurHash3 of 32 bits with seed 0 (Appleby, 2011), which fixes the columns of hashed features. Reads words
// in little-endian order on every machine.
inline int32_t murmur_hash(std::string_view term) {
  constexpr uint32_t kFirst = 0xcc9e2d51, kSecond = 0x1b873593;
  const auto scramble = [](uint32_t word) { return std::rotl(word * kFirst, 15) * kSecond; };
  const auto byte = [term](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(term[i])); };
  const size_t whole = term.size() / 4 * 4;
  uint32_t hash = 0;
  for (size_t i = 0; i < whole; i += 4) {
    uint32_t word = load_bytes<uint32_t>(term.data() + i);
    if constexpr (std::endian::native == std::endian::big) {
      word = byte(i) | byte(i + 1) << 8 | byte(i + 2) << 16 | byte(i + 3) << 24;
    }
    hash = std::rotl(hash ^ scramble(word), 13) * 5 + 0xe6546b64;
  }
  uint32_t rest = 0;
  for (size_t i = term.size(); i > whole; --i) rest = rest << 8 | byte(i - 1);
  if (term.size() > whole) hash ^= scramble(rest);
  hash ^= static_cast<uint32_t>(term.size());
  hash = (hash ^ hash >> 16) * 0x85ebca6b;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35;
  return static_cast<int32_t>(hash ^ hash >> 16);
}

}  // namespace labeltree
