// Memory for the matrices whose rows are read as vectors.
#pragma once

#include <cstdint>
#include <memory>
#include <new>

namespace labeltree {

// Zeroed floats aligned for any vector.
class AlignedFloats {
 public:
  void reset(int64_t n) {
    if (n > capacity_) {
      capacity_ = n;
      data_.reset(static_cast<float*>(::operator new[](n * sizeof(float), std::align_val_t(64))));
    }
    for (int64_t i = 0; i < n; ++i) data_.get()[i] = 0;
  }
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(float* p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  std::unique_ptr<float, Free> data_;
  int64_t capacity_ = 0;
};

}  // namespace labeltree
