#include "core/progress.h"

#include <atomic>

#include "bindings/bindings.h"
#include "core/interruption.h"

namespace labeltree {

namespace nb = nanobind;

namespace {

// Only the main thread of Python receives signals. Others must not even wait for the GIL, which they might
// never get while Python ends.
std::atomic<unsigned long> main_thread{0};

void find_main_thread() {
  main_thread =
      nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
}

void check_signals() {
  if (PyThread_get_thread_ident() != main_thread.load(std::memory_order_relaxed)) return;
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void watch_signals() {
  find_main_thread();
  const nb::module_ os = nb::module_::import_("os");
  if (nb::hasattr(os, "register_at_fork")) {  // the thread that forks is the main thread of the child
    os.attr("register_at_fork")(nb::arg("after_in_child") = nb::cpp_function(&find_main_thread));
  }
  Interruption::check = &check_signals;
}

}  // namespace

void bind_progress(nb::module_& m) {
  watch_signals();
  nb::exception<Cancelled>(m, "Cancelled");
  nb::class_<Progress>(m, "Progress", "How far a computation is; cancel() stops it.")
      .def(nb::init<>())
      .def_prop_ro("done", [](const Progress& p) { return p.done.load(); })
      .def_prop_ro("total", [](const Progress& p) { return p.total.load(); })
      .def("cancel", [](Progress& p) { p.cancelled = true; });
}

}  // namespace labeltree
