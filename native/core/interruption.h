// Lets the caller of the kernel stop a long computation: the user presses Ctrl-C.
#pragma once

#include <atomic>
#include <chrono>

namespace labeltree {

// Thrown in the threads of a computation when another of its threads has failed.
struct Stopped {};

// What a thread knows of its computation.
struct ThreadInterruption {
  const std::atomic<bool>* stopped = nullptr;          // the flag of the computation that it works for
  bool is_caller = true;                               // whether it called the kernel itself
  std::chrono::steady_clock::time_point checked = {};  // when it last called `check`
};

struct Interruption {
  static constexpr auto kInterval = std::chrono::milliseconds(50);

  // Throws if the computation has to stop. Whoever loads the kernel sets it, once. It is called in the thread
  // that called the kernel, and never while a mutex is held.
  static inline void (*check)() = nullptr;
  static inline constinit thread_local ThreadInterruption thread = {};

  // Makes this thread work for a computation for as long as this lives.
  class Scope {
   public:
    Scope(const std::atomic<bool>& stopped, bool is_caller)
        : stopped_(thread.stopped), is_caller_(thread.is_caller) {
      thread.stopped = &stopped;
      thread.is_caller = is_caller_ && is_caller;
    }
    ~Scope() {
      thread.stopped = stopped_;
      thread.is_caller = is_caller_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const std::atomic<bool>* stopped_;
    bool is_caller_;
  };
};

// To be called every few milliseconds by whatever takes longer. Costs as much as a look at the clock.
inline void stop_if_interrupted() {
  ThreadInterruption& thread = Interruption::thread;
  if (thread.stopped != nullptr && thread.stopped->load(std::memory_order_relaxed)) throw Stopped();
  if (!thread.is_caller || Interruption::check == nullptr) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - thread.checked < Interruption::kInterval) return;
  thread.checked = now;
  Interruption::check();
}

}  // namespace labeltree
