// Stored weights as numbers: float32, bfloat16 or int8.
#pragma once

#include <cstdint>
#include <cstring>

namespace labeltree {

// bfloat16 is the upper half of a float32.
inline float decode_weight(float w) { return w; }
inline float decode_weight(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float w;
  static_assert(sizeof(w) == sizeof(wide));
  std::memcpy(&w, &wide, sizeof(w));
  return w;
}
inline float decode_weight(int8_t w) { return w; }

}  // namespace labeltree
