#include "training/group_solver.h"

#include <stdexcept>
#include <string>

#include "training/dual_descent.h"
#include "training/incremental_solver.h"
#include "training/primal_descent.h"
#include "training/sparse_hinge.h"

namespace labeltree {

bool takes_singles(const SolverOptions& options) {
  return options.solver == Solver::descent && options.penalty == Penalty::l2;
}

bool learns_constants(const SolverOptions& options) {
  return options.solver == Solver::adagrad || options.solver == Solver::sgd ||
         options.solver == Solver::fobos;
}

void check_solver(const SolverOptions& options) {
  const bool is_descent = options.solver == Solver::descent;
  if (options.joint_siblings) {
    check_loss(options.loss, LossUse::joint, "learning siblings jointly");
    if (!is_descent || options.penalty != Penalty::l2) {
      throw std::invalid_argument("siblings are learned jointly by the solver descent with the penalty l2");
    }
  }
  switch (options.solver) {
    case Solver::descent:
      if (options.penalty == Penalty::l1) {
        check_loss(options.loss, LossUse::primal, "the solver descent with the penalty l1");
      } else if (options.penalty == Penalty::l2) {
        check_loss(options.loss, LossUse::dual, "the solver descent with the penalty l2");
      } else {
        throw std::invalid_argument("expected the penalty l1 or l2, got an unknown one, number " +
                                    std::to_string(static_cast<int>(options.penalty)));
      }
      return;
    case Solver::adagrad:
    case Solver::sgd:
    case Solver::fobos:
      check_incremental(options.solver, options.loss, options.initial_accumulator);
      if (options.penalty != Penalty::l2) {
        throw std::invalid_argument("incremental solvers have their own penalty: leave penalty at l2");
      }
      return;
    case Solver::sparse:
      return;  // it has its own loss and penalty
  }
  throw std::invalid_argument("expected a solver that is known, got number " +
                              std::to_string(static_cast<int>(options.solver)));
}

std::unique_ptr<GroupSolver> make_group_solver(const SolverOptions& options) {
  check_solver(options);
  if (options.solver == Solver::sparse) {
    return std::make_unique<SparseHinge>(options.l1, options.tol, options.max_iter);
  }
  if (options.solver != Solver::descent) return std::make_unique<IncrementalSolver>(options);
  if (options.penalty == Penalty::l1) {
    return std::make_unique<PrimalDescent>(options.loss, options.tol, options.max_iter, options.bias);
  }
  return std::make_unique<DualDescent>(options.loss, options.tol, options.max_iter);
}

}  // namespace labeltree
