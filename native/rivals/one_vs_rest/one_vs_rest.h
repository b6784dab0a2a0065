// One-versus-rest: a block as wide as there are labels, learned group of columns by group of columns.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/examples.h"
#include "core/progress.h"
#include "model/block_arrays.h"
#include "training/block_solver.h"

namespace labeltree {

// Which rows labels learn from, if not all. Row i is proposed as a negative example of the labels that
// `labels` has in row i. A group of labels learns from the rows that have any of them, those that are
// proposed for any of them, and n_random rows that are drawn at random.
struct Negatives {
  LabelMatrixView labels;
  int64_t n_random;
};

// What is learned, and in which parts. Group g is the labels label[group_begin[g] .. group_begin[g + 1]), at
// most 32 that are lanes of one task. Chunk c is chunk_groups groups from c * chunk_groups on, which are
// handed over together. Only the chunks named in `chunks` are trained.
struct ColumnPlan {
  const int32_t* label;
  const int64_t* group_begin;
  int64_t n_groups;
  int64_t chunk_groups;
  const int64_t* chunks;
  int64_t n_chunks;
};

// The trained columns of a chunk as one block: entries have labels for their columns. Biases and panels of
// dense weights have the chunk's labels in the order of the plan.
struct ColumnChunk {
  BlockArrays arrays;
  TrainingReport report;
};

// Called by any of the threads, for one chunk at a time or several at once.
using ChunkSink = std::function<void(int64_t chunk, ColumnChunk&&)>;

// Every label learns from all rows: the rows with the label against all others. The rows are copied once,
// with new numbers of features; beside this copy each thread has room for one group, whatever the number of
// labels. With `negatives` each thread has a copy of the rows that its group learns from instead. A chunk
// does not depend on the others nor on the threads.
void train_columns(const Examples& examples, const ColumnPlan& plan,
                   const Negatives* negatives,  // or null
                   const SolverOptions& options, const ChunkSink& finished, Progress& progress);

}  // namespace labeltree
