// Threads for a computation of many short steps.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/flush_subnormals.h"
#include "core/interruption.h"

namespace labeltree {

// Runs steps one after another, each on all threads, with subnormal numbers taken for zero. A step of
// parallel_for starts and ends its threads, which takes as long as a short step itself; these wait for the
// next one. They live for one call of the kernel: no pool to break when a process forks.
class ThreadTeam {
 public:
  explicit ThreadTeam(int n_threads) {
    try {
      threads_.reserve(std::max(n_threads - 1, 0));
      for (int worker = 1; worker < n_threads; ++worker) {
        threads_.emplace_back([this, worker] { serve(worker); });
      }
    } catch (const std::system_error&) {  // no more threads to be had: the work is the same with fewer
    } catch (...) {
      end();
      throw;
    }
  }
  ~ThreadTeam() { end(); }
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  // Splits [0, n) into ranges of at most `grain` and calls body(begin, end, worker) for each.
  template <class Body>
  void run_ranges(int64_t n, int64_t grain, const Body& body) {
    run((n + grain - 1) / grain,
        [&](int64_t range, int worker) { body(range * grain, std::min(n, (range + 1) * grain), worker); });
  }

  // Calls body(task, worker) for every task in [0, n_tasks), as parallel_for does. The first exception, or an
  // interruption of the caller, stops the hand-out and is thrown again here.
  template <class Body>
  void run(int64_t n_tasks, const Body& body) {
    if (threads_.empty() || n_tasks <= 1) {
      [[maybe_unused]] const FlushSubnormals flush;
      for (int64_t task = 0; task < n_tasks; ++task) {
        stop_if_interrupted();
        body(task, 0);
      }
      return;
    }
    n_tasks_ = n_tasks;
    body_ = &body;
    call_ = [](const void* b, int64_t task, int worker) { (*static_cast<const Body*>(b))(task, worker); };
    next_.store(0, std::memory_order_relaxed);
    n_busy_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
    step_.fetch_add(1, std::memory_order_release);
    step_.notify_all();
    work(0);
    for (int n; (n = n_busy_.load(std::memory_order_acquire)) > 0;) wait_while(n_busy_, n);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  // Most waits are short: looking a while is quicker than to be woken.
  static constexpr int kLooks = 4000;

  template <class T>
  static void wait_while(std::atomic<T>& value, T old) {
    for (int i = 0; i < kLooks; ++i) {
      if (value.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    value.wait(old, std::memory_order_acquire);
  }

  void serve(int worker) {
    const Interruption::Scope scope(stopped_, false);
    for (uint32_t seen = 0;;) {
      wait_while(step_, seen);
      const uint32_t step = step_.load(std::memory_order_acquire);
      if (step == seen) continue;
      seen = step;
      if (ended_) return;
      work(worker);
      n_busy_.fetch_sub(1, std::memory_order_acq_rel);
      n_busy_.notify_one();
    }
  }

  void work(int worker) {
    [[maybe_unused]] const FlushSubnormals flush;
    try {
      for (int64_t task; (task = next_.fetch_add(1, std::memory_order_relaxed)) < n_tasks_;) {
        stop_if_interrupted();
        call_(body_, task, worker);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      next_.store(n_tasks_, std::memory_order_relaxed);
    }
  }

  void end() {
    ended_ = true;
    step_.fetch_add(1, std::memory_order_release);
    step_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  std::vector<std::thread> threads_;
  std::atomic<uint32_t> step_{0};
  std::atomic<int> n_busy_{0};
  std::atomic<int64_t> next_{0};
  const std::atomic<bool> stopped_{false};
  bool ended_ = false;  // written before step_, read after
  int64_t n_tasks_ = 0;
  const void* body_ = nullptr;
  void (*call_)(const void*, int64_t, int) = nullptr;
  std::mutex mutex_;  // of failure_
  std::exception_ptr failure_;
};

}  // namespace labeltree
