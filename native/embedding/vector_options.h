// The parameters of the training of vectors.
#pragma once

#include <cstdint>

#include "embedding/vector_table.h"

namespace labeltree {

// Whether the children of a node are independent of each other, or one of them is chosen.
enum class NodeLoss : int { logistic = 0, softmax = 1 };

struct VectorOptions {
  int64_t dimension = 100;
  NodeLoss loss = NodeLoss::logistic;
  VectorRule rule;
  float learning_rate = 0.01f;
  bool falling_rate = true;  // linearly to 0 after n_visits; else constant
  int64_t n_visits = 1;      // the number of examples in all passes together
  int batch_size = 256;
  bool mean = false;        // divide the values of a row by their sum
  bool bias = true;         // nodes have a weight for one more dimension, which is always 1
  float dropout = 0;        // share of the dimensions of a hidden vector that are left out, each time anew
  float initial_range = 0;  // words start from numbers between minus this and this
  int hard_negatives = 0;   // number of wrong, but probable inner nodes whose children an example also trains
  bool trains_root = false;  // whether some examples have no labels: then the root's own classifier learns
  uint64_t seed = 0;
  int n_threads = 1;
};

}  // namespace labeltree
