// Threads for a computation of many short steps.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/task_body.h"

namespace labeltree {

// Runs steps one after another, each on all threads, with subnormal numbers taken for zero. A step of
// parallel_for starts and ends its threads, which takes as long as a short step itself; these wait for the
// next one. They live for one call of the kernel: no pool to break when a process forks.
class ThreadTeam {
 public:
  explicit ThreadTeam(int n_threads);
  ~ThreadTeam();
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
  void run(int64_t n_tasks, TaskBody body);

 private:
  void serve(int worker);
  void work(int worker);
  void end();

  std::vector<std::thread> threads_;
  std::atomic<uint32_t> step_{0};
  std::atomic<int> n_busy_{0};
  std::atomic<int64_t> next_{0};
  const std::atomic<bool> stopped_{false};
  bool ended_ = false;  // written before step_, read after
  int64_t n_tasks_ = 0;
  const TaskBody* body_ = nullptr;
  std::mutex mutex_;  // of failure_
  std::exception_ptr failure_;
};

}  // namespace labeltree
