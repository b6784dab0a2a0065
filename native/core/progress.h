// The progress of a long computation, and the request to stop it.
#pragma once

#include <atomic>
#include <cstdint>
#include <stdexcept>

namespace labeltree {

struct Cancelled : std::runtime_error {
  Cancelled() : std::runtime_error("cancelled") {}
};

// Written by workers, read by whoever waits for them. Work is counted in units the computation chooses.
struct Progress {
  std::atomic<int64_t> done{0};
  std::atomic<int64_t> total{0};
  std::atomic<bool> cancelled{false};

  void start(int64_t units) {
    done.store(0, std::memory_order_relaxed);
    total.store(units, std::memory_order_relaxed);
  }
  void advance(int64_t units) { done.fetch_add(units, std::memory_order_relaxed); }
  void check() const {
    if (cancelled.load(std::memory_order_relaxed)) throw Cancelled();
  }
};

}  // namespace labeltree
