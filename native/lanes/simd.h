// Vectors of floats in the compiler's own vector types, so that one source serves every instruction set.
// Included only by lanes/kernels.cpp, which is compiled once per instruction set inside its own namespace:
// nothing here may be visible outside, or wide code could be picked where the processor cannot run it.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE__)
#include <immintrin.h>
#endif

namespace labeltree::LABELTREE_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kNaturalWidth = 16;
#elif defined(__AVX__)
constexpr int kNaturalWidth = 8;
#else
constexpr int kNaturalWidth = 4;
#endif

template <int W>
struct Simd {
  typedef float Floats __attribute__((vector_size(W * 4)));
  typedef int32_t Ints __attribute__((vector_size(W * 4)));
};

// `Lanes` floats as as many natural vectors as that takes. Loops over `v` are unrolled by the compiler.
template <int Lanes>
struct LaneVector {
  static constexpr int kWidth = Lanes < kNaturalWidth ? Lanes : kNaturalWidth;
  static constexpr int kCount = Lanes / kWidth;
  using Floats = typename Simd<kWidth>::Floats;
  using Ints = typename Simd<kWidth>::Ints;
};

template <class Vector>
inline Vector load(const void* source) {
  Vector v;
  std::memcpy(&v, __builtin_assume_aligned(source, sizeof(Vector)), sizeof(Vector));
  return v;
}

template <class Vector>
inline Vector load_anywhere(const void* source) {
  Vector v;
  std::memcpy(&v, source, sizeof(Vector));
  return v;
}

template <class Vector>
inline void store(void* target, Vector v) {
  std::memcpy(__builtin_assume_aligned(target, sizeof(Vector)), &v, sizeof(Vector));
}

template <class Vector>
inline Vector maximum(Vector a, Vector b) {
  return a > b ? a : b;
}

template <class Vector>
inline Vector minimum(Vector a, Vector b) {
  return a < b ? a : b;
}

// Rounded correctly, and so the same everywhere.
template <class Floats>
inline Floats square_root(Floats x) {
  constexpr int width = sizeof(Floats) / 4;
#if defined(__AVX512F__)
  // The plain _mm512_sqrt_ps starts from a vector that GCC 12 takes for uninitialized. Where the mask is all
  // ones, both are the same instruction.
  if constexpr (width == 16) return (Floats)_mm512_maskz_sqrt_ps((__mmask16)-1, (__m512)x);
#endif
#if defined(__AVX__)
  if constexpr (width == 8) return (Floats)_mm256_sqrt_ps((__m256)x);
#endif
#if defined(__SSE__)
  if constexpr (width == 4) return (Floats)_mm_sqrt_ps((__m128)x);
#endif
  for (int j = 0; j < width; ++j) x[j] = __builtin_sqrtf(x[j]);
  return x;
}

// a * b + c, rounded once where the processor can.
template <class Vector>
inline Vector multiply_add(Vector a, Vector b, Vector c) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Vector) == 64) return (Vector)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#endif
#if defined(__FMA__)
  if constexpr (sizeof(Vector) == 32) return (Vector)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#endif
  return a * b + c;
}

// Lane j of the result is all ones where bit (first + j) of `bits` is set.
template <class Ints>
inline Ints lane_mask(uint32_t bits, int first) {
  constexpr int width = sizeof(Ints) / 4;
  Ints lane;
  for (int j = 0; j < width; ++j) lane[j] = static_cast<int32_t>(1u << j);
  return ((Ints{} + static_cast<int32_t>(bits >> first)) & lane) != 0;
}

// The inverse of lane_mask.
template <class Ints>
inline uint32_t lane_bits(Ints mask, int first) {
  constexpr int width = sizeof(Ints) / 4;
#if defined(__AVX512DQ__)
  if constexpr (width == 16) return static_cast<uint32_t>(_mm512_movepi32_mask((__m512i)mask)) << first;
#endif
#if defined(__AVX__)
  if constexpr (width == 8) return static_cast<uint32_t>(_mm256_movemask_ps((__m256)mask)) << first;
#endif
#if defined(__SSE__)
  if constexpr (width == 4) return static_cast<uint32_t>(_mm_movemask_ps((__m128)mask)) << first;
#endif
  uint32_t bits = 0;
  for (int j = 0; j < width; ++j) bits |= static_cast<uint32_t>(mask[j] & 1) << j;
  return bits << first;
}

// e^x to about 2 units in the last place for |x| <= 87, clamped beyond.
template <class Floats, class Ints>
inline Floats exponential(Floats x) {
  x = minimum(maximum(x, Floats{} - 87.0f), Floats{} + 87.0f);
  const Floats scaled = x * 1.44269504f;
  const Floats rounder = Floats{} + 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const Floats n = (scaled + rounder) - rounder;
  const Floats r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  Floats p = Floats{} + 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const Ints exponent = (__builtin_convertvector(n, Ints) + 127) << 23;
  Floats power;
  std::memcpy(&power, &exponent, sizeof(power));
  return p * power;
}

// log(x) for x > 0 that is not subnormal, to about 2 units in the last place, or 1e-7 near 1: the exponent,
// and a polynomial for the mantissa in [1/sqrt(2), sqrt(2)).
template <class Floats, class Ints>
inline Floats logarithm(Floats x) {
  Ints bits;
  std::memcpy(&bits, &x, sizeof(bits));
  const Ints exponent = (bits - 0x3f3504f3) >> 23;
  const Ints mantissa = bits - (exponent << 23);
  Floats r;
  std::memcpy(&r, &mantissa, sizeof(r));
  r -= 1.0f;
  Floats p = Floats{} + 7.0376836292e-2f;
  p = p * r - 1.1514610310e-1f;
  p = p * r + 1.1676998740e-1f;
  p = p * r - 1.2420140846e-1f;
  p = p * r + 1.4249322787e-1f;
  p = p * r - 1.6668057665e-1f;
  p = p * r + 2.0000714765e-1f;
  p = p * r - 2.4999993993e-1f;
  p = p * r + 3.3333331174e-1f;
  const Floats n = __builtin_convertvector(exponent, Floats);
  return n * 0.693359375f + (r + (r * r * (p * r - 0.5f) - n * 2.12194440e-4f));
}

// log(x) for x > 0, at most 0.06 too low and never too high: the exponent, and the mantissa taken for its
// logarithm.
template <class Floats, class Ints>
inline Floats logarithm_from_below(Floats x) {
  Ints bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return __builtin_convertvector(bits - 0x3f800000, Floats) * (0.693147f / 8388608.0f);
}

}  // namespace
}  // namespace labeltree::LABELTREE_ISA
