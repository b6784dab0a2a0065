#include "embedding/vector_trainer.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/core/references.h"
#include "bindings/core/views.h"

namespace labeltree {

namespace {

// A trainer, and the tree that it looks into.
struct BoundTrainer {
  std::unique_ptr<VectorTrainer> trainer;
  nb::object tree;

  template <class Visit>
  void visit_references(const Visit& visit) {
    visit(tree);
  }
};

void make_trainer(BoundTrainer* self, nb::object tree, int64_t n_features, const VectorOptions& options) {
  require(n_features >= 1 && n_features < INT32_MAX, "n_features must be from 1 to 2,147,483,646");
  require(options.dimension >= 1 && options.dimension <= 1 << 20, "dimension must be from 1 to 1,048,576");
  require(options.batch_size >= 1 && options.n_visits >= 1, "batch_size and n_visits must be at least 1");
  require(options.dropout >= 0 && options.dropout < 1, "dropout must be at least 0 and below 1");
  const LabelTreeView& view = nb::cast<const BoundTree&>(tree).view;
  std::unique_ptr<VectorTrainer> trainer;
  {
    nb::gil_scoped_release release;
    trainer = std::make_unique<VectorTrainer>(view, n_features, options);
  }
  new (self) BoundTrainer{std::move(trainer), tree};
}

void set_words(BoundTrainer& bound, Array<int64_t> index, Matrix<float> vectors, bool frozen) {
  VectorTrainer& trainer = *bound.trainer;
  const int64_t dimension = trainer.options().dimension;
  require(static_cast<int64_t>(vectors.shape(1)) == dimension,
          "vectors must have the dimension of the trainer");
  require_length(vectors.shape(0), static_cast<int64_t>(index.size()), "vectors", "word");
  for (size_t i = 0; i < index.size(); ++i) {
    require(index.data()[i] >= 0 && index.data()[i] < trainer.word_table().n_vectors(),
            "a word is out of range");
  }
  for (size_t i = 0; i < index.size(); ++i) {
    trainer.words().set(index.data()[i], vectors.data() + static_cast<int64_t>(i) * dimension, frozen);
  }
}

void learn_batches(BoundTrainer& bound, const BoundExamples& examples, Progress& progress) {
  VectorTrainer& trainer = *bound.trainer;
  check_labels_of(examples.view, trainer.blocks().tree());
  require(examples.view.features.n_features() == trainer.word_table().n_vectors(),
          "the examples must have the features of the trainer");
  require(examples.view.n_rows() < INT32_MAX, "at most 2,147,483,646 rows can be learned at once");
  nb::gil_scoped_release release;
  trainer.learn(examples.view, progress);
}

auto vectors_of(const VectorTable& table, int64_t dimension) {
  std::vector<float> vectors(table.n_vectors() * dimension);
  for (int64_t i = 0; i < table.n_vectors(); ++i) {
    std::copy_n(table.vector(i), dimension, vectors.data() + i * dimension);
  }
  const size_t shape[] = {static_cast<size_t>(table.n_vectors()), static_cast<size_t>(dimension)};
  return to_numpy_of(std::move(vectors), shape);
}

nb::dict arrays(const BoundTrainer& bound) {
  const VectorTrainer& trainer = *bound.trainer;
  const int64_t dimension = trainer.options().dimension;
  const VectorTable& nodes = trainer.node_table();
  std::vector<float> bias(nodes.n_vectors());
  for (int64_t v = 0; v < nodes.n_vectors(); ++v) bias[v] = nodes.vector(v)[dimension];
  nb::dict result;
  result["word_vector"] = vectors_of(trainer.word_table(), dimension);
  result["node_vector"] = vectors_of(nodes, dimension);
  result["bias"] = to_numpy(std::move(bias));
  return result;
}

}  // namespace

void bind_vector_trainer(nb::module_& m) {
  nb::enum_<VectorSolver>(m, "VectorSolver")
      .value("sgd", VectorSolver::sgd)
      .value("adagrad", VectorSolver::adagrad)
      .value("adam", VectorSolver::adam);
  nb::enum_<NodeLoss>(m, "NodeLoss")
      .value("logistic", NodeLoss::logistic)
      .value("softmax", NodeLoss::softmax);
  const VectorOptions by_default;
  nb::class_<VectorOptions>(m, "VectorOptions", "How vectors of words and nodes are learned.")
      .def(
          "__init__",
          [](VectorOptions* self, int64_t dimension, NodeLoss loss, VectorSolver solver, float beta1,
             float beta2, float epsilon, float initial_accumulator, float l2, float learning_rate,
             bool falling_rate, int64_t n_visits, int batch_size, bool mean, bool bias, float dropout,
             float initial_range, int hard_negatives, bool trains_root, uint64_t seed, int n_threads) {
            new (self) VectorOptions{
                dimension,     loss,          {solver, beta1, beta2, epsilon, initial_accumulator, l2},
                learning_rate, falling_rate,  n_visits,
                batch_size,    mean,          bias,
                dropout,       initial_range, hard_negatives,
                trains_root,   seed,          n_threads};
          },
          nb::kw_only(), nb::arg("dimension") = by_default.dimension, nb::arg("loss") = by_default.loss,
          nb::arg("solver") = by_default.rule.solver, nb::arg("beta1") = by_default.rule.beta1,
          nb::arg("beta2") = by_default.rule.beta2, nb::arg("epsilon") = by_default.rule.epsilon,
          nb::arg("initial_accumulator") = by_default.rule.initial_accumulator,
          nb::arg("l2") = by_default.rule.l2, nb::arg("learning_rate") = by_default.learning_rate,
          nb::arg("falling_rate") = by_default.falling_rate, nb::arg("n_visits") = by_default.n_visits,
          nb::arg("batch_size") = by_default.batch_size, nb::arg("mean") = by_default.mean,
          nb::arg("bias") = by_default.bias, nb::arg("dropout") = by_default.dropout,
          nb::arg("initial_range") = by_default.initial_range,
          nb::arg("hard_negatives") = by_default.hard_negatives,
          nb::arg("trains_root") = by_default.trains_root, nb::arg("seed") = by_default.seed,
          nb::arg("n_threads") = by_default.n_threads);
  nb::class_<BoundTrainer>(m, "VectorTrainer", nb::type_slots(reference_slots<BoundTrainer>),
                           "Learns vectors of words and of the nodes of a tree together.")
      .def("__init__", &make_trainer, nb::arg("tree"), nb::arg("n_features"), nb::arg("options"),
           nb::sig("def __init__(self, tree: Tree, n_features: int, options: VectorOptions) -> None"))
      .def("set_words", &set_words, nb::arg("index").noconvert(), nb::arg("vectors").noconvert(),
           nb::arg("frozen"), "Set the vectors of some words before training; frozen ones do not change.")
      .def("learn", &learn_batches, nb::arg("examples"), nb::arg("progress"),
           "Learn all examples once, in random order; progress counts the examples of all calls.")
      .def("arrays", &arrays, "Return the vectors of words and nodes, and the biases of nodes.");
}

}  // namespace labeltree
