// Where the leaf of a new label goes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/random.h"

namespace labeltree {

class OnlineTree;
struct Example;

// A leaf becomes a child of `node`. With `insert`, a node first takes over what `node` has (its children, or
// its label if it is a leaf) and becomes its only child.
struct Extension {
  int32_t node;
  bool insert;
};

// A policy names open nodes: nodes with an auxiliary classifier.
class TreePolicy {
 public:
  virtual ~TreePolicy() = default;
  // Where the leaf of a label that example x is the first to have goes; there is a label in the tree.
  virtual Extension choose(const OnlineTree& tree, const Example& x, int32_t label) = 0;
  // Whether a node with this number of children is never chosen again.
  virtual bool closes(const OnlineTree& tree, int32_t node, int n_children) const = 0;
  // Whether it runs Python code, which must stay in the thread that calls the kernel.
  virtual bool is_python() const { return false; }
  // Nodes got new numbers, breadth first.
  virtual void renumbered() {}
  // What is to be remembered beside the tree.
  virtual uint64_t state() const { return 0; }
  virtual void set_state(uint64_t) {}
  // How many nodes it has looked at so far.
  int64_t n_steps = 0;
};

// For a tree that never grows.
class FixedPolicy final : public TreePolicy {
 public:
  Extension choose(const OnlineTree& tree, const Example& x, int32_t label) override;
  bool closes(const OnlineTree&, int32_t, int) const override { return true; }
};

// The b-ary complete tree: the first node, in the order they were added, that has fewer than b children. As
// the paper has it (algorithm 8), but by going on from where the last one was, so that it is found also where
// labels were forgotten; amortised constant time all the same.
class CompletePolicy final : public TreePolicy {
 public:
  explicit CompletePolicy(int arity) : arity_(arity) {}
  Extension choose(const OnlineTree& tree, const Example& x, int32_t label) override;
  bool closes(const OnlineTree&, int32_t, int n_children) const override { return n_children >= arity_; }
  void renumbered() override { next_ = 0; }
  uint64_t state() const override { return static_cast<uint64_t>(next_); }
  void set_state(uint64_t state) override { next_ = static_cast<int32_t>(state); }

 private:
  int arity_;
  int32_t next_ = 0;
};

// From the root down, by a child at random, to a node that has room or is a leaf.
class RandomPolicy final : public TreePolicy {
 public:
  RandomPolicy(int arity, uint64_t seed) : arity_(arity), state_(seed) {}
  Extension choose(const OnlineTree& tree, const Example& x, int32_t label) override;
  bool closes(const OnlineTree&, int32_t, int n_children) const override { return n_children >= arity_; }
  uint64_t state() const override { return state_; }
  void set_state(uint64_t state) override { state_ = state; }

 private:
  int arity_;
  uint64_t state_;
};

// The same by the child where (1 - alpha) * P(child | node, x) + alpha * log(mean number of leaves of the
// children / number of leaves of the child) is largest: a good fit against a balanced tree, as in conditional
// probability trees.
class BestFitPolicy final : public TreePolicy {
 public:
  BestFitPolicy(int arity, double alpha) : arity_(arity), alpha_(alpha) {}
  Extension choose(const OnlineTree& tree, const Example& x, int32_t label) override;
  bool closes(const OnlineTree&, int32_t, int n_children) const override { return n_children >= arity_; }

 private:
  int arity_;
  double alpha_;
  std::vector<float> probability_;
};

}  // namespace labeltree
