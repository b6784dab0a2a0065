// The arrays of a model by their names in model files, as views that keep their owners.
#pragma once

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "bindings/core/arrays.h"
#include "core/span.h"
#include "model/corrupt_model.h"
#include "model/level_maps.h"

namespace labeltree {

template <class T>
Span<T> span(const Array<T>& array) {
  return {array.data(), static_cast<int64_t>(array.size())};
}

// Throws CorruptModel for an array of another type.
template <class T>
Span<T> stored_array(const nb::dict& arrays, const char* name, std::vector<nb::object>& owners) {
  owners.push_back(arrays[name]);
  Array<T> array;
  if (!nb::try_cast(owners.back(), array, false)) {
    throw CorruptModel(std::string(name) + " has the wrong type or shape");
  }
  return span(array);
}

// The same for an array of one of several types.
template <class... Types>
std::variant<Span<Types>...> stored_variant(const nb::dict& arrays, const char* name,
                                            std::vector<nb::object>& owners) {
  owners.push_back(arrays[name]);
  std::variant<Span<Types>...> found;
  const auto try_type = [&]<class T>(T) {
    Array<T> array;
    if (!nb::try_cast(owners.back(), array, false)) return false;
    found = span(array);
    return true;
  };
  if (!(try_type(Types{}) || ...)) throw CorruptModel(std::string(name) + " has the wrong type or shape");
  return found;
}

// The maps are copied, so that nothing needs to be kept.
inline LevelMaps stored_maps(const nb::dict& arrays) {
  LevelMaps maps;
  const auto copy = [&](const char* name, auto& to) {
    using T = typename std::decay_t<decltype(to)>::value_type;
    if (!arrays.contains(name)) return;
    std::vector<nb::object> owner;
    const Span<T> values = stored_array<T>(arrays, name, owner);
    // Not even a map for the root: empty ones would say that there is no calibration.
    if (values.size == 0) throw CorruptModel(std::string(name) + " is empty");
    to.assign(values.data, values.data + values.size);
  };
  copy("slope", maps.slope);
  copy("intercept", maps.intercept);
  copy("knot_begin", maps.knot_begin);
  copy("knot_score", maps.knot_score);
  copy("knot_probability", maps.knot_probability);
  return maps;
}

}  // namespace labeltree
