// Memory for items before they come, so that adding them cannot fail.
#pragma once

#include <algorithm>
#include <cstddef>

namespace labeltree {

// Room for n more items. The capacity at least doubles, as with push_back, so that this rarely allocates.
template <class Vector>
void make_room(Vector& items, size_t n = 1) {
  if (items.capacity() - items.size() < n) items.reserve(std::max(items.size() + n, items.capacity() * 2));
}

}  // namespace labeltree
