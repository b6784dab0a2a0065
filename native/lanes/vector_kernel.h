// Sums and products of vectors whose dimensions are the lanes, and the steps by which they learn. Included
// only by lanes/kernels.cpp, like lanes/simd.h. A sum is added up in the same order for vectors of any width,
// and in tiles of any size: results are the same to the last bit on every processor.
#pragma once

#include <cstring>

#include "lanes/simd.h"
#include "lanes/vector_kernels.h"

namespace labeltree::LABELTREE_ISA {
namespace {

// The dimensions are taken in chunks of 16.
constexpr int kChunk = 16;
using ChunkVector = LaneVector<kChunk>;
using ChunkFloats = ChunkVector::Floats;
using ChunkInts = ChunkVector::Ints;

struct Chunk {
  ChunkFloats part[ChunkVector::kCount];

  static Chunk of(float value) {
    Chunk chunk;
    for (auto& p : chunk.part) p = ChunkFloats{} + value;
    return chunk;
  }
  // this += value * other
  void add(float value, const Chunk& other) {
    for (int j = 0; j < ChunkVector::kCount; ++j) part[j] += value * other.part[j];
  }
  void add(const Chunk& a, const Chunk& b) {
    for (int j = 0; j < ChunkVector::kCount; ++j) part[j] += a.part[j] * b.part[j];
  }
};

inline ChunkFloats widen(const float* at) { return load_anywhere<ChunkFloats>(at); }

// By intrinsics where there are some: GCC 12 converts vectors of small numbers one by one.
inline ChunkFloats widen(const uint16_t* at) {
#if defined(__AVX512F__)
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  return (ChunkFloats)_mm512_maskz_slli_epi32((__mmask16)-1,
                                              _mm512_maskz_cvtepu16_epi32((__mmask16)-1, halves), 16);
#elif defined(__AVX2__)
  const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  return (ChunkFloats)_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16);
#elif defined(__SSE2__)
  const __m128i halves = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
  return (ChunkFloats)_mm_unpacklo_epi16(_mm_setzero_si128(), halves);
#else
  ChunkFloats values;
  for (int j = 0; j < ChunkVector::kWidth; ++j) {
    const uint32_t bits = static_cast<uint32_t>(at[j]) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    values[j] = value;
  }
  return values;
#endif
}

inline ChunkFloats widen(const int8_t* at) {
#if defined(__AVX512F__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  const __m512i whole = _mm512_maskz_cvtepi8_epi32((__mmask16)-1, bytes);
  return (ChunkFloats)_mm512_maskz_cvtepi32_ps((__mmask16)-1, whole);
#elif defined(__AVX2__)
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
  return (ChunkFloats)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
#elif defined(__SSE2__)
  int32_t four;
  std::memcpy(&four, at, sizeof(four));
  const __m128i bytes = _mm_cvtsi32_si128(four), pairs = _mm_unpacklo_epi8(bytes, bytes);
  return (ChunkFloats)_mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpacklo_epi16(pairs, pairs), 24));
#else
  ChunkFloats values;
  for (int j = 0; j < ChunkVector::kWidth; ++j) values[j] = at[j];
  return values;
#endif
}

template <class T>
inline Chunk load_chunk(const T* at) {
  Chunk chunk;
  for (int j = 0; j < ChunkVector::kCount; ++j) chunk.part[j] = widen(at + j * ChunkVector::kWidth);
  return chunk;
}

// The first n dimensions of a chunk; the others are 0.
template <class T>
inline Chunk load_part(const T* at, int64_t n) {
  T values[kChunk] = {};
  for (int64_t i = 0; i < n; ++i) values[i] = at[i];
  return load_chunk(values);
}

inline void store_chunk(float* to, const Chunk& chunk) { std::memcpy(to, chunk.part, sizeof(chunk.part)); }

// The sum of the lanes: halves are added to each other.
inline float fold(const Chunk& chunk) {
  typedef float Four __attribute__((vector_size(16)));
  alignas(64) float lane[kChunk];
  std::memcpy(lane, chunk.part, sizeof(lane));
  const Four quarter =
      (load<Four>(lane) + load<Four>(lane + 8)) + (load<Four>(lane + 4) + load<Four>(lane + 12));
  return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
}

// Calls body(items) with the items of a matrix in their type.
template <class Body>
inline void with_items(const VectorMatrix& vectors, const Body& body) {
  switch (vectors.type) {
    case VectorType::float32:
      return body(static_cast<const float*>(vectors.data));
    case VectorType::bfloat16:
      return body(static_cast<const uint16_t*>(vectors.data));
    case VectorType::int8:
      return body(static_cast<const int8_t*>(vectors.data));
  }
}

// `Chunks` chunks of the sum from dimension `first` on.
template <int Chunks, class T>
inline void sum_chunks(const VectorMatrix& vectors, const T* items, const int32_t* index, const float* value,
                       int64_t n, int64_t first, float* out) {
  // Vectors lie anywhere in memory: ask for those that come soon.
  constexpr int64_t kAhead = 8;
  Chunk sum[Chunks];
  for (Chunk& chunk : sum) chunk = Chunk::of(0);
  for (int64_t k = 0; k < n; ++k) {
    if (k + kAhead < n) {
      const T* next = items + index[k + kAhead] * vectors.stride + first;
      for (int64_t byte = 0; byte < Chunks * kChunk * int64_t{sizeof(T)}; byte += 64) {
        __builtin_prefetch(reinterpret_cast<const char*>(next) + byte);
      }
    }
    const T* at = items + index[k] * vectors.stride + first;
    const float factor = vectors.scale == nullptr ? value[k] : value[k] * vectors.scale[index[k]];
    for (int c = 0; c < Chunks; ++c) sum[c].add(factor, load_chunk(at + c * kChunk));
  }
  for (int c = 0; c < Chunks; ++c) store_chunk(out + first + c * kChunk, sum[c]);
}

void sum_vectors(const VectorMatrix& vectors, const int32_t* index, const float* value, int64_t n,
                 float* out) {
  constexpr int kMost = kNaturalWidth == 16 ? 8 : kNaturalWidth == 8 ? 4 : 2;
  const int64_t dimension = vectors.dimension;
  with_items(vectors, [&](const auto* items) {
    if (dimension < kChunk) {
      Chunk sum = Chunk::of(0);
      for (int64_t k = 0; k < n; ++k) {
        const float factor = vectors.scale == nullptr ? value[k] : value[k] * vectors.scale[index[k]];
        sum.add(factor, load_part(items + index[k] * vectors.stride, dimension));
      }
      std::memcpy(out, sum.part, dimension * sizeof(float));
      return;
    }
    int64_t first = 0;
    const auto add = [&]<int Chunks>(std::integral_constant<int, Chunks>) {
      if (first + Chunks * kChunk > dimension) return false;
      sum_chunks<Chunks>(vectors, items, index, value, n, first, out);
      first += Chunks * kChunk;
      return true;
    };
    while (add(std::integral_constant<int, kMost>())) {
    }
    if constexpr (kMost == 8) {
      add(std::integral_constant<int, 7>());
      add(std::integral_constant<int, 4>());
    }
    if constexpr (kMost >= 4) add(std::integral_constant<int, 2>());
    while (add(std::integral_constant<int, 1>())) {
    }
    // The last dimensions, with some before them that come out the same once more.
    if (first < dimension) sum_chunks<1>(vectors, items, index, value, n, dimension - kChunk, out);
  });
}

// As many products as there are registers for.
constexpr int kDotRows = kNaturalWidth == 16 ? 4 : 2;
constexpr int kDotColumns = kNaturalWidth == 16 ? 4 : 2;

// Rows whose products are computed, and what is left of them after the last whole chunk: it ends where they
// end, and the dimensions that were taken already are 0.
template <int Rows>
struct DotRows {
  const float* const* rows;
  Chunk rest[Rows];

  DotRows(const float* const* from, int64_t dimension) : rows(from) {
    const int64_t left = dimension % kChunk;
    if (left == 0) return;
    for (int r = 0; r < Rows; ++r) {
      float values[kChunk] = {};
      float* to = dimension < kChunk ? values : values + kChunk - left;
      std::memcpy(to, rows[r] + dimension - left, left * sizeof(float));
      rest[r] = load_chunk(values);
    }
  }
};

template <int Rows, int Columns, class T>
inline void dot_tile(const DotRows<Rows>& rows, const VectorMatrix& vectors, const T* items, int64_t column,
                     float* const* out) {
  Chunk sum[Rows][Columns];
  for (auto& of_row : sum) {
    for (Chunk& chunk : of_row) chunk = Chunk::of(0);
  }
  const T* first = items + column * vectors.stride;
  const auto add = [&](const auto& row, const auto& load_column) {
    for (int c = 0; c < Columns; ++c) {
      const Chunk other = load_column(first + c * vectors.stride);
      for (int r = 0; r < Rows; ++r) sum[r][c].add(row[r], other);
    }
  };
  const int64_t dimension = vectors.dimension;
  int64_t d = 0;
  for (; d + kChunk <= dimension; d += kChunk) {
    Chunk row[Rows];
    for (int r = 0; r < Rows; ++r) row[r] = load_chunk(rows.rows[r] + d);
    add(row, [&](const T* at) { return load_chunk(at + d); });
  }
  if (d < dimension && dimension >= kChunk) {
    add(rows.rest, [&](const T* at) { return load_chunk(at + dimension - kChunk); });
  } else if (d < dimension) {
    add(rows.rest, [&](const T* at) { return load_part(at, dimension); });
  }
  for (int r = 0; r < Rows; ++r) {
    for (int c = 0; c < Columns; ++c) {
      const float product = fold(sum[r][c]);
      out[r][column + c] += vectors.scale == nullptr ? product : product * vectors.scale[column + c];
    }
  }
}

// The same of some vectors anywhere, which have no scales and whole chunks, and one row.
template <int Columns>
inline void dot_some(const float* row, const VectorMatrix& vectors, const int32_t* index, float* out) {
  const float* items = static_cast<const float*>(vectors.data);
  Chunk sum[Columns];
  for (Chunk& chunk : sum) chunk = Chunk::of(0);
  for (int64_t d = 0; d < vectors.dimension; d += kChunk) {
    const Chunk value = load_chunk(row + d);
    for (int c = 0; c < Columns; ++c) sum[c].add(value, load_chunk(items + index[c] * vectors.stride + d));
  }
  for (int c = 0; c < Columns; ++c) out[c] = fold(sum[c]);
}

void dot_each(const float* row, const VectorMatrix& vectors, const int32_t* index, int64_t n, float* out) {
  int64_t k = 0;
  for (; k + 4 <= n; k += 4) dot_some<4>(row, vectors, index + k, out + k);
  for (; k < n; ++k) dot_some<1>(row, vectors, index + k, out + k);
}

template <int Rows, class T>
inline void dot_rows(const float* const* rows, const VectorMatrix& vectors, const T* items,
                     float* const* out) {
  const DotRows<Rows> prepared(rows, vectors.dimension);
  int64_t c = 0;
  for (; c + kDotColumns <= vectors.n_vectors; c += kDotColumns) {
    dot_tile<Rows, kDotColumns>(prepared, vectors, items, c, out);
  }
  for (; c < vectors.n_vectors; ++c) dot_tile<Rows, 1>(prepared, vectors, items, c, out);
}

void dot_vectors(const float* const* rows, int n_rows, const VectorMatrix& vectors, float* const* out) {
  with_items(vectors, [&](const auto* items) {
    int r = 0;
    for (; r + kDotRows <= n_rows; r += kDotRows) dot_rows<kDotRows>(rows + r, vectors, items, out + r);
    for (; r < n_rows; ++r) dot_rows<1>(rows + r, vectors, items, out + r);
  });
}

constexpr int kMixRows = kNaturalWidth == 16 ? 6 : kNaturalWidth == 8 ? 3 : 1;

template <int Rows, int Chunks>
inline void mix_tile(const VectorMix& mix, int64_t row, int64_t d) {
  Chunk sum[Rows][Chunks];
  for (auto& of_row : sum) {
    for (Chunk& chunk : of_row) chunk = Chunk::of(0);
  }
  const float* factor = mix.factor + row * mix.row_step;
  for (int64_t k = 0; k < mix.n_vectors; ++k, factor += mix.vector_step) {
    Chunk other[Chunks];
    for (int c = 0; c < Chunks; ++c) other[c] = load_chunk(mix.vectors[k] + d + c * kChunk);
    for (int r = 0; r < Rows; ++r) {
      for (int c = 0; c < Chunks; ++c) sum[r][c].add(factor[r * mix.row_step], other[c]);
    }
  }
  for (int r = 0; r < Rows; ++r) {
    float* out = mix.out + (row + r) * mix.stride + d;
    for (int c = 0; c < Chunks; ++c) store_chunk(out + c * kChunk, sum[r][c]);
  }
}

template <int Chunks>
inline void mix_chunks(const VectorMix& mix, int64_t d) {
  int64_t row = 0;
  for (; row + kMixRows <= mix.n_rows; row += kMixRows) mix_tile<kMixRows, Chunks>(mix, row, d);
  for (; row < mix.n_rows; ++row) mix_tile<1, Chunks>(mix, row, d);
}

void mix_vectors(const VectorMix& mix) {
  int64_t d = 0;
  for (; d + 2 * kChunk <= mix.stride; d += 2 * kChunk) mix_chunks<2>(mix, d);
  for (; d < mix.stride; d += kChunk) mix_chunks<1>(mix, d);
}

// Replaces scores by the logistic function of them, times `weight`.
void apply_logistic(float* scores, int64_t n, float weight) {
  const auto logistic = [&](const ChunkFloats& score) {
    return weight / (1.0f + exponential<ChunkFloats, ChunkInts>(-score));
  };
  int64_t i = 0;
  constexpr int width = ChunkVector::kWidth;
  for (; i + width <= n; i += width) {
    const ChunkFloats result = logistic(load_anywhere<ChunkFloats>(scores + i));
    std::memcpy(scores + i, &result, sizeof(result));
  }
  if (i == n) return;
  float rest[width] = {};
  std::memcpy(rest, scores + i, (n - i) * sizeof(float));
  const ChunkFloats result = logistic(load_anywhere<ChunkFloats>(rest));
  std::memcpy(scores + i, &result, (n - i) * sizeof(float));
}

// Replaces scores by e to the power of them, less the largest, and returns the sum.
float apply_exponential(float* scores, int64_t n) {
  float largest = scores[0];
  for (int64_t i = 1; i < n; ++i) largest = scores[i] > largest ? scores[i] : largest;
  constexpr int width = ChunkVector::kWidth;
  float sum = 0;
  for (int64_t i = 0; i < n; i += width) {
    const int64_t m = n - i < width ? n - i : width;
    float part[width] = {};
    std::memcpy(part, scores + i, m * sizeof(float));
    const ChunkFloats result =
        exponential<ChunkFloats, ChunkInts>(load_anywhere<ChunkFloats>(part) - largest);
    std::memcpy(scores + i, &result, m * sizeof(float));
    for (int64_t j = 0; j < m; ++j) sum += scores[i + j];
  }
  return sum;
}

// One length of a step for all dimensions of a vector: the mean of the squared gradients is taken over them.
inline float rate_of_adam(const VectorStep& step, const float* weights, const float* gradient) {
  Chunk sum = Chunk::of(0);
  for (int64_t d = 0; d < step.stride; d += kChunk) {
    Chunk g = load_chunk(gradient + d);
    g.add(step.decay, load_chunk(weights + d));
    sum.add(g, g);
  }
  const float mean = fold(sum) / static_cast<float>(step.dimension);
  *step.squares = step.beta2 * *step.squares + (1 - step.beta2) * mean;
  return step.rate / (__builtin_sqrtf(*step.squares) + step.epsilon);
}

template <VectorSolver solver>
inline void step_of(const VectorStep& step, float* weights, const float* gradient) {
  const float rate = solver == VectorSolver::adam ? rate_of_adam(step, weights, gradient) : step.rate;
  for (int64_t d = 0; d < step.stride; d += ChunkVector::kWidth) {
    ChunkFloats w = load<ChunkFloats>(weights + d);
    const ChunkFloats g = load<ChunkFloats>(gradient + d) + step.decay * w;
    if constexpr (solver == VectorSolver::sgd) {
      w -= rate * g;
    } else if constexpr (solver == VectorSolver::adagrad) {
      const ChunkFloats sum = load<ChunkFloats>(step.squares + d) + g * g;
      store(step.squares + d, sum);
      w -= rate * g / (square_root(sum) + step.epsilon);
    } else {
      const ChunkFloats mean = step.beta1 * load<ChunkFloats>(step.means + d) + (1 - step.beta1) * g;
      store(step.means + d, mean);
      w -= rate * mean;
    }
    store(weights + d, w);
  }
}

void step_vector(VectorSolver solver, const VectorStep& step, float* weights, const float* gradient) {
  switch (solver) {
    case VectorSolver::sgd:
      return step_of<VectorSolver::sgd>(step, weights, gradient);
    case VectorSolver::adagrad:
      return step_of<VectorSolver::adagrad>(step, weights, gradient);
    case VectorSolver::adam:
      return step_of<VectorSolver::adam>(step, weights, gradient);
  }
}

}  // namespace
}  // namespace labeltree::LABELTREE_ISA
