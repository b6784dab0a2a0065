// Arrays across the boundary: in as const views without a copy, out as owners of what the kernel made.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace labeltree {

namespace nb = nanobind;

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutArray = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> as_span(const Array<T>& array) {
  return {array.data(), array.size()};
}

// Hands a vector over to NumPy without a copy, as an array of this shape.
template <size_t Dimensions, class T, class Allocator>
nb::ndarray<nb::numpy, T, nb::ndim<Dimensions>> to_numpy_of(std::vector<T, Allocator>&& values,
                                                            const size_t (&shape)[Dimensions]) {
  using Vector = std::vector<T, Allocator>;
  auto owned = std::make_unique<Vector>(std::move(values));
  Vector& kept = *owned;
  nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<Vector*>(p); });
  (void)owned.release();
  return nb::ndarray<nb::numpy, T, nb::ndim<Dimensions>>(kept.data(), Dimensions, shape, owner);
}

template <class T, class Allocator>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T, Allocator>&& values) {
  const size_t size = values.size();
  return to_numpy_of(std::move(values), {size});
}

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

inline void require_length(size_t length, int64_t expected, const char* name, const char* what) {
  if (static_cast<int64_t>(length) == expected) return;
  throw std::invalid_argument(std::string(name) + " must have one entry per " + what + ": expected " +
                              std::to_string(expected) + ", got " + std::to_string(length));
}

}  // namespace labeltree
