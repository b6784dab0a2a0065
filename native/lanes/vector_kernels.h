// The loops over vectors whose dimensions are the lanes: of words, of nodes, and of rows between the two.
// Implemented once in lanes/vector_kernel.h, compiled for several instruction sets like lanes/kernels.h.
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

// Mixtures of vectors: out[i * stride + d] is the sum over k of vectors[k][d] times
// factor[i * row_step + k * vector_step]. The stride, a multiple of 16, is also the dimension.
struct VectorMix {
  const float* const* vectors;
  int64_t n_vectors;
  const float* factor;
  int64_t row_step, vector_step;
  float* out;
  int64_t n_rows;
  int64_t stride;
};

// How a vector goes down a gradient.
enum class VectorSolver : int { sgd = 0, adagrad = 1, adam = 2 };

// One step of one vector. Arrays are aligned to 64 bytes.
struct VectorStep {
  int64_t dimension;
  int64_t stride;  // the dimension filled up to a multiple of 16
  float rate;
  float decay;  // this times the vector is added to the gradient
  float beta1, beta2, epsilon;
  float* means;  // Adam: of the gradients, per dimension
  float*
      squares;  // AdaGrad: sums of the squared gradients, per dimension; Adam: their mean over all dimensions
};

// A result is the same to the last bit on every processor.
struct VectorKernels {
  // out = the sum of value[k] times vector index[k]. The dimension is that of the vectors.
  void (*sum)(const VectorMatrix& vectors, const int32_t* index, const float* value, int64_t n, float* out);
  // Adds row i times vector c to out[i][c], for all the vectors.
  void (*dot)(const float* const* rows, int n_rows, const VectorMatrix& vectors, float* const* out);
  // out[k] = the row times vector index[k]. The vectors are of float32, their dimension is a multiple of 16.
  void (*dot_each)(const float* row, const VectorMatrix& vectors, const int32_t* index, int64_t n,
                   float* out);
  void (*mix)(const VectorMix& mix);
  // Replaces scores by their logistic function times `weight`.
  void (*apply_logistic)(float* scores, int64_t n, float weight);
  // Replaces scores by e to the power of them less the largest, and returns the sum.
  float (*apply_exponential)(float* scores, int64_t n);
  void (*step)(VectorSolver solver, const VectorStep& step, float* weights, const float* gradient);
};

// The vector kernels of the instruction set that lane_kernels() chose.
const VectorKernels& vector_kernels();

}  // namespace labeltree
