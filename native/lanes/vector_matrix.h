// Vectors of one dimension, one for each word or node, in a type that saves memory.
#pragma once

#include <cstdint>
#include <type_traits>

namespace labeltree {

enum class VectorType : int { float32 = 0, bfloat16 = 1, int8 = 2 };

template <class Item>
constexpr VectorType vector_type() {
  if constexpr (std::is_same_v<Item, float>) return VectorType::float32;
  if constexpr (std::is_same_v<Item, uint16_t>) return VectorType::bfloat16;
  if constexpr (std::is_same_v<Item, int8_t>) return VectorType::int8;
}

// A view: vector i begins at item i * stride of `data`. Those of int8 are multiplied by scale[i].
struct VectorMatrix {
  VectorType type = VectorType::float32;
  const void* data = nullptr;
  const float* scale = nullptr;
  int64_t n_vectors = 0;
  int64_t dimension = 0;
  int64_t stride = 0;
};

}  // namespace labeltree
