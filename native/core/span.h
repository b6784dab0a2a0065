// A range of values that someone else owns.
#pragma once

#include <cstdint>

namespace labeltree {

template <class T>
struct Span {
  const T* data = nullptr;
  int64_t size = 0;

  const T& operator[](int64_t i) const { return data[i]; }
};

}  // namespace labeltree
