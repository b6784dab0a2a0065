// Threads for one loop of tasks. core/thread_team.h has threads for many short loops.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/interruption.h"
#include "core/task_body.h"

namespace labeltree {

// Calls body(task, worker) for every task in [0, n_tasks), tasks handed out in order to n_threads workers
// (worker in [0, n_threads) lets a caller keep scratch per worker). The first exception, or an interruption
// of the caller, stops the hand-out and is thrown again here. Threads live for one call: no pool to break
// when a process forks.
void parallel_for(int n_threads, int64_t n_tasks, TaskBody body);

// Splits [0, n) into ranges of at most `grain` and calls body(begin, end, worker) for each.
template <class Body>
void parallel_ranges(int n_threads, int64_t n, int64_t grain, const Body& body) {
  parallel_for(n_threads, (n + grain - 1) / grain, [&](int64_t range, int worker) {
    body(range * grain, std::min(n, (range + 1) * grain), worker);
  });
}

}  // namespace labeltree
