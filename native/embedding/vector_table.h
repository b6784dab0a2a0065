// Vectors that learn: one for each word or node, with what their solver remembers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned_floats.h"
#include "lanes/vector_kernels.h"

namespace labeltree {

// How vectors go down their gradients; see VectorStep. Adam takes steps of one length for all dimensions of a
// vector: that is as precise here as a length for each, needs less memory, and is faster.
struct VectorRule {
  VectorSolver solver = VectorSolver::adam;
  float beta1 = 0.9f, beta2 = 0.999f;
  float epsilon = 1e-8f;
  float initial_accumulator = 0;  // AdaGrad: what the sums of squared gradients start from
  float l2 = 0;
};

// Vectors are filled up with zeros to a multiple of 16 dimensions, which stay 0. A step touches one vector
// alone: different threads may step different vectors at once.
class VectorTable {
 public:
  VectorTable(int64_t n_vectors, int64_t dimension, const VectorRule& rule);

  int64_t n_vectors() const { return n_vectors_; }
  int64_t stride() const { return stride_; }
  float* vector(int64_t i) { return weights_.data() + i * stride_; }
  const float* vector(int64_t i) const { return weights_.data() + i * stride_; }
  // Some of the vectors, in all their dimensions.
  VectorMatrix matrix(int64_t first, int64_t n) const {
    return {VectorType::float32, vector(first), nullptr, n, stride_, stride_};
  }

  // Asks for the memory that the next step of a vector reads.
  void prefetch(int64_t i) const {
    for (int64_t d = 0; d < stride_; d += 16) {
      __builtin_prefetch(weights_.data() + i * stride_ + d, 1);
      if (rule_.solver == VectorSolver::adam) __builtin_prefetch(means_.data() + i * stride_ + d, 1);
      if (rule_.solver == VectorSolver::adagrad) __builtin_prefetch(squares_.data() + i * stride_ + d, 1);
    }
  }

  // One step down a gradient that is the sum over n_examples of them.
  void step(int64_t i, const float* gradient, float rate, int64_t n_examples);

 private:
  int64_t n_vectors_, dimension_, stride_;
  VectorRule rule_;
  AlignedFloats weights_, squares_, means_;
  std::vector<int32_t> n_steps_;   // Adam: per vector
  std::vector<float> correction_;  // Adam: of the rate, by the number of steps
};

}  // namespace labeltree
