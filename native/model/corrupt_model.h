// What a model that cannot be trusted throws.
#pragma once

#include <stdexcept>
#include <string>

namespace labeltree {

// The arrays of a model contradict each other: the file is damaged or hostile.
struct CorruptModel : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void corrupt(const std::string& what) { throw CorruptModel(what); }

}  // namespace labeltree
