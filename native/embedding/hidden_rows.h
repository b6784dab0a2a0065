// The hidden vectors of the examples of a batch, and the gradients of the loss by them.
#pragma once

#include <cstdint>

#include "core/aligned_floats.h"

namespace labeltree {

// The last dimension is that of the bias. Vectors are filled up with zeros to `stride` dimensions.
class HiddenRows {
 public:
  explicit HiddenRows(int64_t stride) : stride_(stride) {}

  void resize(int64_t n_rows) {
    vectors_.reset(n_rows * stride_);
    gradients_.reset(n_rows * stride_);
  }
  int64_t stride() const { return stride_; }
  float* vector(int64_t row) { return vectors_.data() + row * stride_; }
  const float* vector(int64_t row) const { return vectors_.data() + row * stride_; }
  float* gradient(int64_t row) { return gradients_.data() + row * stride_; }
  const float* gradient(int64_t row) const { return gradients_.data() + row * stride_; }

 private:
  int64_t stride_;
  AlignedFloats vectors_, gradients_;
};

}  // namespace labeltree
