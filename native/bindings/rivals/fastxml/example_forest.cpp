#include "rivals/fastxml/example_forest.h"

#include <string>

#include "bindings/bindings.h"
#include "bindings/search/answers.h"
#include "bindings/search/forest.h"
#include "model/corrupt_model.h"

namespace labeltree {

namespace {

BoundExampleForest make_example_forest(nb::dict arrays, int32_t n_labels, int64_t n_features, double gamma,
                                       double alpha) {
  BoundExampleForest bound;
  const auto view = [&]<class T>(const char* name, Span<T>& to) {
    nb::object object = arrays[name];
    Array<T> array;
    if (!nb::try_cast(object, array, false)) {
      throw CorruptModel(std::string(name) + " has the wrong type or shape");
    }
    bound.owners.push_back(object);
    to = {array.data(), static_cast<int64_t>(array.size())};
  };
  ExampleTreeViews trees;
  view("tree_begin", trees.tree_begin);
  view("child", trees.child);
  view("weight_begin", trees.weight_begin);
  view("feature", trees.feature);
  view("weight", trees.weight);
  view("bias", trees.bias);
  view("pair_begin", trees.pair_begin);
  view("label", trees.label);
  view("probability", trees.probability);
  LabelMeanViews means;
  if (arrays.contains("mean_begin")) {
    view("mean_begin", means.begin);
    // To the forest, an empty one would say that there are no means.
    if (means.begin.size == 0) throw CorruptModel("mean_begin has the wrong length");
    view("mean_feature", means.feature);
    view("mean_value", means.value);
    view("mean_square", means.square);
    means.gamma = gamma;
    means.alpha = alpha;
  }
  bound.forest = std::make_unique<ExampleForest>(trees, means, n_labels, n_features);
  return bound;
}

}  // namespace

void bind_example_forest(nb::module_& m) {
  nb::class_<BoundExampleForest> c(
      m, "ExampleForest", nb::type_slots(reference_slots<BoundExampleForest>),
      "Trees over examples, asked together.\n\n"
      "Answers the calls of Forest. It ignores beam, missing_as_zero and normalize_siblings: a row goes one "
      "way through a tree, there are no siblings, and a label that a tree does not speak of has the "
      "probability 0 there.");
  c.def(
       "__init__",
       [](BoundExampleForest* self, nb::dict arrays, int32_t n_labels, int64_t n_features, double gamma,
          double alpha) {
         new (self) BoundExampleForest(make_example_forest(arrays, n_labels, n_features, gamma, alpha));
       },
       nb::arg("arrays"), nb::arg("n_labels"), nb::arg("n_features"), nb::arg("gamma") = 0.0,
       nb::arg("alpha") = 1.0)
      .def(
          "verify", [](const BoundExampleForest& f) { f.forest->verify(); },
          nb::call_guard<nb::gil_scoped_release>(), "Check the insides of every node, leaf and mean.");
  def_answers(c, [](const BoundExampleForest& bound, const FeatureMatrix& features) -> const ExampleForest& {
    return bound.asked(features);
  });
}

}  // namespace labeltree
