// Learns vectors of words and of the nodes of a label tree together.
#pragma once

#include <cstdint>
#include <vector>

#include "core/examples.h"
#include "core/progress.h"
#include "core/thread_team.h"
#include "embedding/example_batch.h"
#include "embedding/hidden_rows.h"
#include "embedding/node_layer.h"
#include "embedding/vector_options.h"
#include "embedding/word_layer.h"

namespace labeltree {

// The hidden vector of an example is the sum of its words' vectors, times their values. The score of a node
// is the product of the hidden vector and the node's, and its bias.
//
// A batch of examples goes through four steps, each in parallel: hidden vectors, by example; scores,
// gradients and new vectors of nodes, by block of siblings; gradients of hidden vectors, by example; new
// vectors of words, by word. Every sum is added up by one thread in a given order, so that the result does
// not depend on the number of threads.
class VectorTrainer {
 public:
  // The tree must live as long as this.
  VectorTrainer(const LabelTreeView& tree, int64_t n_features, const VectorOptions& options);
  VectorTrainer(const VectorTrainer&) = delete;
  VectorTrainer& operator=(const VectorTrainer&) = delete;

  // Learns all examples once, in random order. Progress counts the examples of all calls, which share one.
  void learn(const Examples& examples, Progress& progress);

  const VectorOptions& options() const { return options_; }
  const TreeBlocks& blocks() const { return blocks_; }
  WordLayer& words() { return words_; }
  const VectorTable& word_table() const { return words_.table(); }
  const VectorTable& node_table() const { return nodes_.table(); }

 private:
  void learn_batch(ThreadTeam& team, ExampleBatch& batch, const Examples& examples, const int64_t* next_rows,
                   int n_next, ExampleBatch& next);
  void add_hard_negatives(ThreadTeam& team, ExampleBatch& batch);
  float rate() const;

  VectorOptions options_;
  TreeBlocks blocks_;
  WordLayer words_;
  NodeLayer nodes_;
  HiddenRows hidden_;
  int64_t n_visited_ = 0;
  uint64_t n_passes_ = 0;
  std::vector<std::vector<int32_t>> hard_negatives_;  // blocks, per row of the batch
};

}  // namespace labeltree
