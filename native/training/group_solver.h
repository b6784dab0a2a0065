// What learns the columns of a sibling block: up to 32 binary problems over the same examples at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/progress.h"
#include "training/local_block.h"

namespace labeltree {

struct SolverOptions;

// Bit j of positive[i] is the class of row i in problem j. All arrays have an entry per row but lane_cost,
// which has one per row and lane.
struct GroupProblem {
  const LocalBlock& rows;     // the last feature before the dense ones is the bias, if there is one
  const int32_t* row_number;  // of the rows among all examples, ascending
  const float* squared_norm;  // with single features
  const float* single_norm;   // of single features, which are not in `rows`
  const float* cost;          // C times the weight of the example
  const float* lane_cost;     // [row][lane] of lanes_for(n_columns), where labels have weights; or null
  const std::vector<uint32_t>& positive;
  int n_columns;
};

// What was learned of up to 32 problems: the weight of a feature in problem j is
// weights[feature * lanes + j]. Dense features come after those with a local number. What a row with label y
// adds to the weights of its features is y * alpha[row * lanes + j] times their values; so the weights of
// single features are known without the solver ever seeing them. `alpha` is null if the solver has no such
// numbers.
struct LaneWeights {
  const float* weights;
  const float* alpha;
  int lanes;
};

// One per worker: it keeps its memory from one group to the next.
class GroupSolver {
 public:
  virtual ~GroupSolver() = default;

  // The result depends only on the arguments.
  virtual void run(const GroupProblem& problem, uint64_t seed, const Progress& progress) = 0;

  // Problem j is lane j. A solver without `alpha` wants to see all features, and the dense ones as entries.
  virtual LaneWeights learned() const = 0;

  virtual int n_unconverged() const = 0;
  virtual int64_t n_row_visits() const = 0;
  virtual int64_t n_passes() const = 0;
};

// Whether features that only one row has are kept from the solver, and dense features are a matrix: see
// LaneWeights.
bool takes_singles(const SolverOptions& options);

// Whether columns whose rows are all of one class are learned like others: who takes one example after
// another does not know that no other class will come.
bool learns_constants(const SolverOptions& options);

// Throws std::invalid_argument for a solver that does not take its loss or penalty.
void check_solver(const SolverOptions& options);

std::unique_ptr<GroupSolver> make_group_solver(const SolverOptions& options);

}  // namespace labeltree
