#include "online/online_forest.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/interruption.h"
#include "core/thread_team.h"
#include "online/subtree_values.h"
#include "search/forest_answers.h"

namespace labeltree {

void check_alike(const OnlineTree& one, const OnlineTree& other) {
  if (one.n_labels() != other.n_labels() || one.counts().n_examples != other.counts().n_examples ||
      one.options().weights != other.options().weights || one.options().length != other.options().length ||
      one.options().bias != other.options().bias) {
    throw std::invalid_argument(
        "the trees of an online model must have learned the same examples with the same options");
  }
}

template class ForestOf<OnlineTree>;

namespace {

// The fewest rows for which threads are started.
constexpr int64_t kFewestParallelRows = 4;

std::string overflow_message(int64_t number, const FeatureRow& row) {
  size_t largest = 0;
  for (size_t k = 0; k < row.value.size(); ++k) {
    if (std::abs(row.value[k]) > std::abs(row.value[largest])) largest = k;
  }
  std::ostringstream message;
  message << "X, row " << number << ": with this row the weights of a node grew beyond all bounds. ";
  if (!row.value.empty()) {
    message << "Its largest value is " << row.value[largest] << " (feature " << row.index[largest] << "). ";
  }
  message
      << "Scale the features, use normalize=True, or use a smaller learning_rate or smaller sample weights. "
         "The row is not learned; the rows before it are";
  return message.str();
}

class OnlineEnumeration final : public ForestEnumeration<OnlineTree> {
 public:
  OnlineEnumeration(std::shared_ptr<const ForestOf<OnlineTree>> forest, const FeatureMatrix& features,
                    int64_t row, const Search& search, std::shared_ptr<const int64_t> n_changes)
      : ForestEnumeration(std::move(forest), features, row, search),
        n_changes_(std::move(n_changes)),
        n_changes_before_(*n_changes_) {}

  bool next(ScoredLabel& out) override {
    if (*n_changes_ != n_changes_before_) {
      throw std::runtime_error(
          "the model has learned or forgotten since iter_labels was called: call it again, or use "
          "predict_topk");
    }
    return ForestEnumeration::next(out);
  }

 private:
  std::shared_ptr<const int64_t> n_changes_;
  int64_t n_changes_before_;
};

}  // namespace

OnlineForest::OnlineForest(std::vector<std::shared_ptr<OnlineTree>> trees)
    : trees_(std::move(trees)), n_changes_(std::make_shared<int64_t>(0)) {
  answers_ = std::make_shared<const ForestOf<OnlineTree>>(
      std::vector<std::shared_ptr<const OnlineTree>>(trees_.begin(), trees_.end()),
      std::vector<double>(trees_.size(), 1.0));
}

void OnlineForest::learn(const Lessons& lessons, int n_threads, const Predictions* predictions) {
  const size_t n_trees = trees_.size();
  const bool is_python =
      std::any_of(trees_.begin(), trees_.end(), [](const auto& tree) { return tree->policy().is_python(); });
  const bool is_parallel = lessons.n_rows >= kFewestParallelRows && !is_python;
  ThreadTeam team(is_parallel ? std::min(n_threads, static_cast<int>(n_trees)) : 1);
  // A step of the team is never interrupted: each tree must make or undo what it has prepared.
  const std::atomic<bool> stopped{false};
  const Interruption::Scope uninterrupted(stopped, false);
  std::vector<std::exception_ptr> failures(n_trees);
  FeatureRow rows[2];  // the one that is learned, and the next
  bool is_prepared = false;
  const auto finish = [&] {
    if (std::exchange(is_prepared, false)) {
      team.run(static_cast<int64_t>(n_trees), [&](int64_t t, int) { trees_[t]->commit(); });
    }
  };
  const auto learn_row = [&](int64_t i) {
    const int64_t r = lessons.rows[i], begin = lessons.label_indptr[r];
    FeatureRow& row = rows[i % 2];
    row.clear();
    lessons.features.append_entries(r, row);
    if (predictions != nullptr) {
      finish();
      const int64_t k = predictions->search.k;
      answers_->top_k_of_row(lessons.features, r, predictions->search, predictions->labels + i * k,
                             predictions->probabilities + i * k);
    }
    ++*n_changes_;
    // One step of the team for the end of a row and the beginning of the next.
    team.run(static_cast<int64_t>(n_trees), [&](int64_t t, int) {
      if (is_prepared) trees_[t]->commit();
      try {
        trees_[t]->prepare(row, lessons.labels + begin, lessons.label_indptr[r + 1] - begin,
                           lessons.weight != nullptr ? lessons.weight[r] : 1.0f, n_trees > 1);
      } catch (...) {
        failures[t] = std::current_exception();
      }
    });
    is_prepared = true;
    const auto failure =
        std::find_if(failures.begin(), failures.end(), [](const auto& error) { return error != nullptr; });
    if (failure == failures.end()) return;
    is_prepared = false;
    for (size_t t = 0; t < n_trees; ++t) {
      if (failures[t] == nullptr) trees_[t]->cancel();
    }
    try {
      std::rethrow_exception(*failure);
    } catch (const StepOverflow&) {
      throw std::invalid_argument(overflow_message(r, row));
    }
  };
  try {
    for (int64_t i = 0; i < lessons.n_rows; ++i) learn_row(i);
  } catch (...) {
    finish();
    throw;
  }
  finish();
}

void OnlineForest::forget(const std::vector<uint8_t>& label_kept) {
  std::vector<std::shared_ptr<OnlineTree::Forgetting>> plans;
  for (const auto& tree : trees_) plans.push_back(tree->plan_forgetting(label_kept));
  ++*n_changes_;
  for (size_t t = 0; t < trees_.size(); ++t) trees_[t]->forget(*plans[t]);
}

std::unique_ptr<Enumeration> OnlineForest::enumerate(const FeatureMatrix& features, int64_t row,
                                                     const Search& search) const {
  return std::make_unique<OnlineEnumeration>(answers_, features, row, search, n_changes_);
}

}  // namespace labeltree
