#include "core/progress.h"

#include "bindings/bindings.h"

namespace labeltree {

namespace nb = nanobind;

void bind_progress(nb::module_& m) {
  nb::exception<Cancelled>(m, "Cancelled");
  nb::class_<Progress>(m, "Progress", "How far a computation is; cancel() stops it.")
      .def(nb::init<>())
      .def_prop_ro("done", [](const Progress& p) { return p.done.load(); })
      .def_prop_ro("total", [](const Progress& p) { return p.total.load(); })
      .def("cancel", [](Progress& p) { p.cancelled = true; });
}

}  // namespace labeltree
