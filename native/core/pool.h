// Scratch objects that threads hand to each other instead of making new ones.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace labeltree {

// The mutex of all pools. A fork waits for it, so that a child finds its pools whole and unlocked.
std::mutex& pool_mutex();

template <class T>
class Pool {
 public:
  using Items = std::vector<std::unique_ptr<T>>;

  // n items: those that are there, and new ones from make().
  template <class Make>
  Items take(size_t n, const Make& make) {
    Items taken;
    taken.reserve(n);
    {
      const std::lock_guard lock(pool_mutex());
      for (; taken.size() < n && !items_.empty(); items_.pop_back())
        taken.push_back(std::move(items_.back()));
    }
    while (taken.size() < n) taken.push_back(make());
    return taken;
  }

  // Items that there is no memory to keep are dropped.
  void give_back(Items& items) noexcept {
    const std::lock_guard lock(pool_mutex());
    try {
      for (auto& item : items) items_.push_back(std::move(item));
    } catch (const std::bad_alloc&) {
    }
  }

 private:
  Items items_;
};

}  // namespace labeltree
