// The classifiers of siblings that learn one example after another, while siblings and features are added.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/aligned_floats.h"
#include "core/feature_map.h"
#include "lanes/kernels.h"

namespace labeltree {

// Where the weights of a block are: in rows that a hash map finds, in a row per feature, in a fixed number of
// rows that features share by their hash, or in a table that all blocks share.
enum class WeightKind : int { map = 0, dense = 1, hashed = 2, shared = 3 };

// An example as blocks see it: features and their values, the bias being a feature too.
struct Example {
  static constexpr uint32_t kBias = 0xffffffff;
  std::vector<uint32_t> feature;
  std::vector<float> value;

  int64_t size() const { return static_cast<int64_t>(feature.size()); }
};

// A step would leave the finite numbers.
struct StepOverflow : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// What all blocks of a tree have in common.
struct WeightSpace {
  WeightKind kind = WeightKind::map;
  Solver solver = Solver::adagrad;
  float initial_accumulator = 0;  // AdaGrad: added to the sums of squared gradients
  int64_t length = 0;             // hashed: number of feature slots; shared: number of weights in the table
  GrowingFloats table;            // shared: all weights, then all sums of squared gradients
  int most_lanes = 0;             // shared: the widest block there may be
  bool is_wild = false;           // whether some weight may be above GrowingBlock::tame_weight()

  bool has_squares() const { return solver == Solver::adagrad; }
  int64_t floats_per_weight() const { return has_squares() ? 2 : 1; }
};

// One column (lane) per child and, while more children may come, an auxiliary one behind them, which sees the
// same examples and takes all of them for positive. What a child that is added now would have learned from
// those examples is its opposite: a new lane is the auxiliary one, negated. Rows are [weights][sums of
// squared gradients], each `width` lanes; row 0 is 0 and stands for features that are not there.
class GrowingBlock {
 public:
  // A block without children, of an auxiliary lane or none. The number tells it from others in a shared
  // table.
  GrowingBlock(const WeightSpace& space, int32_t number, bool has_auxiliary);

  int32_t number() const { return number_; }
  int n_children() const { return n_children_; }
  int n_lanes() const { return n_children_ + (has_auxiliary_ ? 1 : 0); }
  int width() const { return width_; }
  bool has_auxiliary() const { return has_auxiliary_; }
  int64_t n_rows() const { return n_rows_; }
  int64_t n_map_bytes() const { return map_.n_bytes(); }
  int64_t n_weight_bytes() const {
    return data_.n_bytes() + static_cast<int64_t>(shrunk_.capacity() * sizeof(double));
  }

  // A child that no example so far was of. If no more can come, it takes the place of the auxiliary lane.
  void add_child(const WeightSpace& space, bool is_last);
  // Undoes it.
  void remove_last_child(const WeightSpace& space, bool was_last);
  // A child with weights of 0, for blocks that are made at once.
  void add_blank_child(const WeightSpace& space);
  // A block for the same examples, with one child that all of them are of. This must have an auxiliary lane.
  GrowingBlock over(const WeightSpace& space, int32_t number) const;
  // Leaves out some children, at least one; the others keep their order. With `start_auxiliary`, there is an
  // auxiliary lane afterwards; a new one knows nothing of the examples so far.
  void keep_children(const WeightSpace& space, const std::vector<uint8_t>& kept,
                     bool start_auxiliary) noexcept;
  void drop_auxiliary(const WeightSpace& space) noexcept;

  // The scores of all lanes; `rows` is scratch.
  void score(const WeightSpace& space, const Example& x, std::vector<uint32_t>& rows, float* scores) const;

  // -- learning: first the steps of all blocks are prepared, which may fail; then they are made, which may
  // not
  struct Learner {
    Loss loss;
    float learning_rate;
    double regularization;
    float initial_accumulator;  // of AdaGrad's sums of squared gradients, above 0
  };
  struct Scratch {
    std::vector<uint32_t> rows;   // block after block, for each feature of the example
    std::vector<float> gradient;  // block after block, for each lane
    std::vector<float> scores;    // of the lanes of one block
    std::vector<uint32_t> positive, used;
    float largest_value = 0;  // of the example
    std::vector<float> rehearsed;
    std::vector<double> rehearsed_shrunk;

    // Room for this number of blocks, their lanes, and the lanes of the widest of them.
    void make_room(size_t n_blocks, size_t n_features, size_t n_lanes, size_t most_lanes);
  };
  // What an example does to this block.
  struct Step {
    int64_t first_row, first_lane;  // in Scratch
    int64_t n_rows;                 // of the block afterwards
    bool moves;
    float rate;      // for weights as they are stored
    double penalty;  // of the block afterwards
    double penalty_before;
  };

  // If all weights are below this, they stay below it after any number of tame examples.
  static double tame_weight(const WeightSpace& space, const Learner& learner);
  // Whether no step for such an example can overflow: its number of features, its largest absolute value and
  // its weight are given.
  static bool is_tame(const WeightSpace& space, const Learner& learner, int64_t n_features,
                      float largest_value, float weight);

  // Finds a step of every lane, or of all but the auxiliary one, and gets memory for it. Bit i of
  // scratch.positive: child i has a positive label below it. The step's rows and gradient go to `scratch`,
  // from first_row and first_lane on, where there must be room. With `careful`, throws StepOverflow unless
  // all scores and weights are finite (of shared weights, only the scores).
  Step prepare(WeightSpace& space, const Learner& learner, const Example& x, float weight,
               bool with_auxiliary, bool careful, int64_t first_row, int64_t first_lane, Scratch& scratch);
  void make(WeightSpace& space, const Example& x, const Step& step, const Scratch& scratch) noexcept;

  // Shared weights: blocks share rows, so that a step can only be prepared when those before are made. These
  // keep the rows of a step (appended to `kept`), find their largest absolute weight (infinity if something
  // is not finite), and undo the step.
  void keep_rows(const WeightSpace& space, const uint32_t* rows, int64_t n, std::vector<float>& kept) const;
  double largest_weight(const WeightSpace& space, const uint32_t* rows, int64_t n) const;
  void undo(WeightSpace& space, const Step& step, const uint32_t* rows, int64_t n,
            const float* kept) noexcept;

  // Calls visit(feature, weights of the lanes) for every feature with a row, as they are in effect now; not
  // with shared weights, where features are not known.
  template <class Visit>
  void visit(const WeightSpace& space, const Visit& visit) const {
    std::vector<float> effective(width_);
    const auto visit_row = [&](uint32_t feature, uint32_t row) {
      effective_weights(space, row, effective.data());
      visit(feature, effective.data());
    };
    if (space.kind == WeightKind::map) {
      map_.visit(visit_row);
    } else {
      for (int64_t row = 1; row < n_rows_; ++row) visit_row(static_cast<uint32_t>(row) - 2, row);
    }
  }
  // The weights of all lanes for one feature.
  void weights_of(const WeightSpace& space, uint32_t feature, float* out) const;

  // All there is, to be written and read again, without row 0 and without unused lanes. Of shared weights,
  // only the numbers.
  struct State {
    int n_children = 0;
    bool has_auxiliary = false;
    int64_t n_seen = 0;
    double penalty = 0;
    std::vector<uint32_t> features;  // of the rows; only of maps
    std::vector<float> weights;      // [row][lane]
    std::vector<float> squares;      // the same of the sums of squared gradients; only of AdaGrad
    std::vector<double> shrunk;      // of the rows; only of FOBOS
  };
  State state(const WeightSpace& space) const;
  // Throws std::invalid_argument if the state contradicts itself.
  GrowingBlock(const WeightSpace& space, int32_t number, const State& state);

 private:
  static constexpr int64_t kSharedUnit = 4;
  // SGD keeps weights divided by what the penalty has left of them. Below this, they are multiplied out.
  static constexpr double kSmallestScale = 1e-9;

  int64_t unit(const WeightSpace& space) const {
    return space.kind == WeightKind::shared ? kSharedUnit : width_ * space.floats_per_weight();
  }
  uint32_t shared_row(const WeightSpace& space, uint32_t feature) const;
  void find(const WeightSpace& space, const Example& x, uint32_t* rows) const;
  // Numbers rows for the features that have none, and gets memory for them. Returns how many rows there are
  // then.
  int64_t number_missing(const WeightSpace& space, const Example& x, uint32_t* rows);
  GrowingRows rows(const WeightSpace& space, const Example& x, const uint32_t* rows) const;
  // Makes the step with copies of the rows; throws StepOverflow if a weight does not stay finite.
  void rehearse(const WeightSpace& space, const Example& x, const Step& step, Scratch& scratch) const;
  void effective_weights(const WeightSpace& space, uint32_t row, float* out) const;
  void set_n_rows(const WeightSpace& space, int64_t n);
  // Rows with room for this number of lanes, filled by copy(old row, new row) for weights and squares alike.
  // If there is no memory, nothing has changed.
  template <class Copy>
  void widen(const WeightSpace& space, int n_lanes, const Copy& copy);
  // The same for no more lanes than now, in place: copy() goes from the first lane to the last.
  template <class Copy>
  void narrow(const WeightSpace& space, int n_lanes, const Copy& copy) noexcept;
  // Calls change(weights, squares or null) for every row of the block itself.
  template <class Change>
  void change_rows(const WeightSpace& space, const Change& change);
  void fold_scale(const WeightSpace& space);

  int32_t number_;
  int n_children_ = 0;
  bool has_auxiliary_;
  int width_ = 0;
  int64_t n_seen_ = 0;
  // What the penalty of all examples so far amounts to. SGD: the weights are this times those of the rows.
  // FOBOS: the sum of the soft thresholds.
  double penalty_;
  int64_t n_rows_ = 0;
  FeatureMap map_;
  GrowingFloats data_;
  std::vector<double> shrunk_;
};

}  // namespace labeltree
