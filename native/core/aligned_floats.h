// Memory for the matrices whose rows are read as vectors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace labeltree {

// Zeroed floats aligned for any vector. Rows are read at random: large matrices ask for large pages.
class AlignedFloats {
 public:
  void reset(int64_t n) {
    reserve(n);
    std::fill_n(data_.get(), n, 0.0f);
  }
  // Room for n floats, whatever they are.
  void reserve(int64_t n) {
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

// Aligned floats that grow and keep their values; new values are 0.
class GrowingFloats {
 public:
  GrowingFloats() = default;
  GrowingFloats(GrowingFloats&& other) noexcept
      : floats_(std::move(other.floats_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  GrowingFloats& operator=(GrowingFloats&& other) noexcept {
    floats_ = std::move(other.floats_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  void resize(int64_t size) {
    reserve(size);
    if (size < size_) std::fill(floats_.data() + size, floats_.data() + size_, 0.0f);
    size_ = size;
  }
  // After this, a resize to `size` needs no memory.
  void reserve(int64_t size) {
    // Exactly as many the first time: much of what grows at all is filled once.
    if (size > capacity_) move_to(capacity_ == 0 ? size : std::max(size, capacity_ + capacity_ / 2));
  }
  // Gives back what it does not need, if there is memory for a smaller copy.
  void shrink() noexcept {
    try {
      if (size_ < capacity_) move_to(size_);
    } catch (const std::bad_alloc&) {
    }
  }
  int64_t size() const { return size_; }
  int64_t n_bytes() const { return capacity_ * static_cast<int64_t>(sizeof(float)); }
  float* data() { return floats_.data(); }
  const float* data() const { return floats_.data(); }

 private:
  void move_to(int64_t capacity) {
    AlignedFloats other;
    other.reset(capacity);
    std::copy_n(floats_.data(), size_, other.data());
    floats_ = std::move(other);
    capacity_ = capacity;
  }

  AlignedFloats floats_;
  int64_t size_ = 0, capacity_ = 0;
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
