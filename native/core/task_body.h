// The body of a parallel loop.
#pragma once

#include <cstdint>

namespace labeltree {

// Refers to a callable body(task, worker), which must live longer. Threads are started by code that is
// compiled once, for whatever body.
class TaskBody {
 public:
  template <class Body>
  TaskBody(const Body& body)
      : body_(&body), call_([](const void* callable, int64_t task, int worker) {
          (*static_cast<const Body*>(callable))(task, worker);
        }) {}
  void operator()(int64_t task, int worker) const { call_(body_, task, worker); }

 private:
  const void* body_;
  void (*call_)(const void*, int64_t, int);
};

}  // namespace labeltree
