// Something that several tasks need for a while.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace labeltree {

// The first user makes the value, the last one frees it.
template <class T>
class SharedValue {
 public:
  // Before the first take().
  void add_user() { ++users_left_; }

  // Once by each user.
  template <class Make>
  std::shared_ptr<const T> take(const Make& make) {
    const std::lock_guard lock(mutex_);
    if (!value_) value_ = std::make_shared<const T>(make());
    return --users_left_ == 0 ? std::move(value_) : value_;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const T> value_;
  int users_left_ = 0;
};

}  // namespace labeltree
