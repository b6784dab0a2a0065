// Memory for the matrices whose rows are read as vectors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace labeltree {

// Zeroed floats aligned for any vector. Rows are read at random: large matrices ask for large pages.
class AlignedFloats {
 public:
  void reset(int64_t n) {
    if (n > capacity_) {
      data_.reset();
      capacity_ = 0;
      const size_t bytes = n * sizeof(float);
      const auto alignment = std::align_val_t(bytes < kLargePage ? 64 : kLargePage);
      data_ = std::unique_ptr<float[], Free>(static_cast<float*>(::operator new[](bytes, alignment)),
                                             Free{alignment});
      capacity_ = n;
#if defined(__linux__)
      if (bytes >= kLargePage) madvise(data_.get(), bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
#endif
    }
    std::fill_n(data_.get(), n, 0.0f);
  }
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }

 private:
  static constexpr size_t kLargePage = size_t{1} << 21;
  struct Free {
    std::align_val_t alignment{64};
    void operator()(float* p) const { ::operator delete[](p, alignment); }
  };
  std::unique_ptr<float[], Free> data_{nullptr, Free{}};
  int64_t capacity_ = 0;
};

// For vectors whose items begin at a cache line.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kAlignment)); }
  void deallocate(T* p, size_t) { ::operator delete(p, kAlignment); }
  bool operator==(const CacheLineAllocator&) const { return true; }
};
using AlignedVector = std::vector<float, CacheLineAllocator<float>>;

}  // namespace labeltree
