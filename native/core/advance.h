// Walking through a sorted list in step with another one.
#pragma once

#include <algorithm>
#include <iterator>

namespace labeltree {

// As std::lower_bound: the first element from `at` on that is not below `value`. It costs the logarithm of
// the distance to this element, where std::lower_bound costs that of the distance to `end`.
template <class Iterator, class Value>
Iterator advance_to(Iterator at, Iterator end, const Value& value) {
  typename std::iterator_traits<Iterator>::difference_type step = 1;
  while (step < end - at && at[step - 1] < value) {
    at += step;
    step *= 2;
  }
  return std::lower_bound(at, step < end - at ? at + step : end, value);
}

}  // namespace labeltree
