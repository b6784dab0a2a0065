// The one way this library uses threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace labeltree {

// Calls body(task, worker) for every task in [0, n_tasks), tasks handed out in order to n_threads workers
// (worker in [0, n_threads) lets a caller keep scratch per worker). The first exception stops the hand-out
// and is thrown again here. Threads live for one call: no pool to break when a process forks.
template <class Body>
void parallel_for(int n_threads, int64_t n_tasks, const Body& body) {
  n_threads = static_cast<int>(std::min<int64_t>(std::max(n_threads, 1), n_tasks));
  if (n_threads <= 1) {
    for (int64_t task = 0; task < n_tasks; ++task) body(task, 0);
    return;
  }
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&](int worker) {
    try {
      for (int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < n_tasks;) {
        body(task, worker);
      }
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      next.store(n_tasks, std::memory_order_relaxed);
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(n_threads - 1);
  try {
    for (int worker = 1; worker < n_threads; ++worker) threads.emplace_back(work, worker);
  } catch (...) {
    // The system gives no more threads, or no memory for one: the work is the same with fewer.
  }
  work(0);
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

// Splits [0, n) into ranges of at most `grain` and calls body(begin, end, worker) for each.
template <class Body>
void parallel_ranges(int n_threads, int64_t n, int64_t grain, const Body& body) {
  parallel_for(n_threads, (n + grain - 1) / grain, [&](int64_t range, int worker) {
    body(range * grain, std::min(n, (range + 1) * grain), worker);
  });
}

}  // namespace labeltree
