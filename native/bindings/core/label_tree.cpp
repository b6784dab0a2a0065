#include "core/label_tree.h"

#include "bindings/bindings.h"
#include "bindings/core/references.h"
#include "bindings/core/views.h"

namespace labeltree {

namespace {

void make_tree(BoundTree* self, nb::object child_begin, nb::object label, int32_t n_labels) {
  const auto begin = array_of<int32_t>(child_begin, "child_begin", "int32");
  const auto labels = array_of<int32_t>(label, "label", "int32");
  require(labels.size() > 0 && begin.size() == labels.size() + 1,
          "child_begin must have one more entry than label");
  require(labels.size() <= INT32_MAX, "a tree must have fewer than 2,147,483,648 nodes");
  const LabelTreeView view{static_cast<int32_t>(labels.size()), n_labels, begin.data(), labels.data()};
  check_tree(view);
  new (self) BoundTree{view, child_begin, label};
}

}  // namespace

void bind_label_tree(nb::module_& m) {
  nb::class_<BoundTree>(m, "Tree", nb::type_slots(reference_slots<BoundTree>),
                        "A label tree, looked at where its arrays are; checked when made.")
      .def("__init__", &make_tree, nb::arg("child_begin"), nb::arg("label"), nb::arg("n_labels"),
           nb::sig("def __init__(self, child_begin: NDArray[numpy.int32], label: NDArray[numpy.int32], "
                   "n_labels: int) -> None"))
      .def_prop_ro("n_nodes", [](const BoundTree& tree) { return tree.view.n_nodes; })
      .def_prop_ro("n_labels", [](const BoundTree& tree) { return tree.view.n_labels; });
}

}  // namespace labeltree
