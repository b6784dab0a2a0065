#include <nanobind/stl/vector.h>

#include "bindings/bindings.h"
#include "bindings/core/items.h"
#include "training/block_solver.h"

namespace labeltree {

namespace nb = nanobind;

void bind_solver_options(nb::module_& m) {
#define LABELTREE_LOSS_VALUE(name, Struct) losses.value(#name, Loss::name);
  nb::enum_<Loss> losses(m, "Loss");
  LABELTREE_LOSSES(LABELTREE_LOSS_VALUE)
#undef LABELTREE_LOSS_VALUE
  nb::enum_<Penalty>(m, "Penalty").value("l2", Penalty::l2).value("l1", Penalty::l1);
  nb::enum_<Solver>(m, "Solver")
      .value("descent", Solver::descent)
      .value("adagrad", Solver::adagrad)
      .value("sgd", Solver::sgd)
      .value("fobos", Solver::fobos)
      .value("sparse", Solver::sparse);
  const SolverOptions by_default;
  nb::class_<SolverOptions>(m, "SolverOptions", "How node classifiers are learned.")
      .def(
          "__init__",
          [](SolverOptions* self, Solver solver, Loss loss, Penalty penalty, bool joint_siblings, float C,
             const Items<float>& block_C, float tol, int max_iter, float l1, float learning_rate,
             bool falling_rate, float initial_accumulator, int epochs, float regularization, float bias,
             float prune, uint64_t seed, int n_threads) {
            new (self) SolverOptions{solver,
                                     loss,
                                     penalty,
                                     joint_siblings,
                                     C,
                                     to_vector<float>(block_C),
                                     tol,
                                     max_iter,
                                     l1,
                                     learning_rate,
                                     falling_rate,
                                     initial_accumulator,
                                     epochs,
                                     regularization,
                                     bias,
                                     prune,
                                     seed,
                                     n_threads};
          },
          nb::kw_only(), nb::arg("solver") = by_default.solver, nb::arg("loss") = by_default.loss,
          nb::arg("penalty") = by_default.penalty, nb::arg("joint_siblings") = by_default.joint_siblings,
          nb::arg("C") = by_default.C, nb::arg("block_C") = by_default.block_C,
          nb::arg("tol") = by_default.tol, nb::arg("max_iter") = by_default.max_iter,
          nb::arg("l1") = by_default.l1, nb::arg("learning_rate") = by_default.learning_rate,
          nb::arg("falling_rate") = by_default.falling_rate,
          nb::arg("initial_accumulator") = by_default.initial_accumulator,
          nb::arg("epochs") = by_default.epochs, nb::arg("regularization") = by_default.regularization,
          nb::arg("bias") = by_default.bias, nb::arg("prune") = by_default.prune,
          nb::arg("seed") = by_default.seed, nb::arg("n_threads") = by_default.n_threads);
}

}  // namespace labeltree
