// From words to hidden vectors, and from the gradients of these back to the words.
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned_floats.h"
#include "embedding/example_batch.h"
#include "embedding/hidden_rows.h"
#include "embedding/vector_options.h"
#include "embedding/vector_table.h"

namespace labeltree {

class WordLayer {
 public:
  WordLayer(int64_t n_words, const VectorOptions& options);

  const VectorTable& table() const { return table_; }

  // Sets the vector of a word before training. A frozen one does not change.
  void set(int64_t word, const float* vector, bool frozen);

  // Makes the hidden vector of a row; `visit` numbers the visits of all passes.
  void make_hidden(const ExampleBatch& batch, int row, int64_t visit, HiddenRows& hidden) const;
  // What the gradient is in the dimensions that make_hidden() kept: others have none.
  void drop_gradient(int row, int64_t visit, HiddenRows& hidden) const;

  // One step of the i-th of the batch's words.
  void learn(const ExampleBatch& batch, int64_t i, const HiddenRows& hidden, float rate,
             AlignedFloats& scratch);

 private:
  template <class Visit>
  void visit_dropped(int64_t visit, const Visit& dropped) const;

  VectorOptions options_;
  VectorTable table_;
  std::vector<uint8_t> frozen_;  // per word; empty if none is
};

}  // namespace labeltree
