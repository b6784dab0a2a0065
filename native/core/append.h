// One vector after another.
#pragma once

#include <vector>

namespace labeltree {

template <class T>
void append(std::vector<T>& all, const std::vector<T>& part) {
  all.insert(all.end(), part.begin(), part.end());
}

}  // namespace labeltree
