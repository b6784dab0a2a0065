#include "core/thread_team.h"

#include <system_error>
#include <utility>

#include "core/flush_subnormals.h"
#include "core/interruption.h"

namespace labeltree {
namespace {

// Most waits are short: looking a while is quicker than to be woken.
constexpr int kLooks = 4000;

template <class T>
void wait_while(std::atomic<T>& value, T old) {
  for (int i = 0; i < kLooks; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadTeam::ThreadTeam(int n_threads) {
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

ThreadTeam::~ThreadTeam() { end(); }

void ThreadTeam::run(int64_t n_tasks, TaskBody body) {
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
  next_.store(0, std::memory_order_relaxed);
  n_busy_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
  step_.fetch_add(1, std::memory_order_release);
  step_.notify_all();
  work(0);
  for (int n; (n = n_busy_.load(std::memory_order_acquire)) > 0;) wait_while(n_busy_, n);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadTeam::serve(int worker) {
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

void ThreadTeam::work(int worker) {
  [[maybe_unused]] const FlushSubnormals flush;
  try {
    for (int64_t task; (task = next_.fetch_add(1, std::memory_order_relaxed)) < n_tasks_;) {
      stop_if_interrupted();
      (*body_)(task, worker);
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    next_.store(n_tasks_, std::memory_order_relaxed);
  }
}

void ThreadTeam::end() {
  ended_ = true;
  step_.fetch_add(1, std::memory_order_release);
  step_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace labeltree
