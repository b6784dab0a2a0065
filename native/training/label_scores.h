// The scores of an example for labels: few of very many labels have one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace labeltree {

// One per worker. Starting again costs nothing, however many labels there are, unless all were scored.
class LabelScores {
 public:
  explicit LabelScores(int32_t n_labels) : cells_(n_labels), all_(n_labels, 0.0f) {}

  void start() {
    if (++round_ == 0) {  // all numbers have been used: the cells must not take the first for this one
      std::fill(cells_.begin(), cells_.end(), Cell());
      round_ = 1;
    }
    scored_.clear();
    if (has_all_) std::fill(all_.begin(), all_.end(), 0.0f);
    has_all_ = false;
  }

  void add(int32_t label, float part) {
    Cell& cell = cells_[label];
    if (cell.round != round_) {
      cell = {0.0f, round_};
      scored_.push_back(label);
    }
    cell.score += part;
  }

  // To add something for every label.
  float* of_all() {
    has_all_ = true;
    return all_.data();
  }

  // Labels that nothing was added for have the score 0.
  float operator[](int32_t label) const {
    const Cell& cell = cells_[label];
    return cell.round == round_ ? cell.score + all_[label] : all_[label];
  }
  bool is_scored(int32_t label) const { return has_all_ || cells_[label].round == round_; }

  template <class Visit>
  void visit_scored(const Visit& visit) const {
    if (!has_all_) {
      for (const int32_t label : scored_) visit(label, cells_[label].score);
      return;
    }
    for (int32_t label = 0; label < static_cast<int32_t>(all_.size()); ++label) visit(label, (*this)[label]);
  }

 private:
  struct Cell {
    float score = 0;
    uint32_t round = 0;
  };

  std::vector<Cell> cells_;
  std::vector<int32_t> scored_;  // in this round
  std::vector<float> all_;
  uint32_t round_ = 0;
  bool has_all_ = false;
};

}  // namespace labeltree
