#include "core/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace labeltree {

void parallel_for(int n_threads, int64_t n_tasks, TaskBody body) {
  n_threads = static_cast<int>(std::min<int64_t>(std::max(n_threads, 1), n_tasks));
  if (n_threads <= 1) {
    for (int64_t task = 0; task < n_tasks; ++task) {
      stop_if_interrupted();
      body(task, 0);
    }
    return;
  }
  std::atomic<int64_t> next{0};
  std::atomic<bool> stopped{false};
  std::mutex mutex;  // of what follows
  std::exception_ptr failure;
  int n_running = 0;
  std::condition_variable ended;
  const auto guarded = [&](const auto& work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      stopped.store(true, std::memory_order_relaxed);
      next.store(n_tasks, std::memory_order_relaxed);
    }
  };
  const auto work = [&](int worker) {
    const Interruption::Scope scope(stopped, worker == 0);
    guarded([&] {
      for (int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < n_tasks;) {
        stop_if_interrupted();
        body(task, worker);
      }
    });
  };
  const auto count_running = [&](int change) {
    const std::lock_guard lock(mutex);
    n_running += change;
    if (n_running == 0) ended.notify_one();
  };
  std::vector<std::thread> threads;
  try {
    threads.reserve(n_threads - 1);
    for (int worker = 1; worker < n_threads; ++worker) {
      count_running(1);
      threads.emplace_back([&work, &count_running, worker] {
        work(worker);
        count_running(-1);
      });
    }
  } catch (...) {
    // The system gives no more threads, or no memory for one: the work is the same with fewer.
    if (threads.capacity() > 0) count_running(-1);
  }
  work(0);
  std::unique_lock lock(mutex);
  while (n_running > 0) {
    if (ended.wait_for(lock, Interruption::kInterval) == std::cv_status::no_timeout) continue;
    lock.unlock();
    guarded(stop_if_interrupted);
    lock.lock();
  }
  lock.unlock();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace labeltree
