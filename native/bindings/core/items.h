// Sequences as arguments. nanobind's own conversion to a std::vector ends the process when memory runs out.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

namespace labeltree {

namespace nb = nanobind;

// A sequence of T; with a pointer, of objects of a bound class.
template <class T>
using Items = nb::typed<nb::sequence, T>;

template <class T, class Value = T>
std::vector<Value> to_vector(const Items<T>& items) {
  std::vector<Value> values;
  for (nb::handle item : items) {
    Value value;
    if (!nb::try_cast(item, value)) throw nb::type_error("a sequence has an item of another type");
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace labeltree
