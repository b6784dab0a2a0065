#include "clustering/kmeans.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/parallel_for.h"
#include "core/random.h"
#include "lanes/kernels.h"

namespace labeltree {

namespace {

constexpr int64_t kClusteredRowsPerTask = 512;
constexpr int64_t kRowsPerChunk = 8192;
constexpr float kNothingInCommon = 1e-6f;  // what rounding leaves of a row that was moved away

// Columns of the matrix of centroids: a width whose rows are aligned for the vectors that read them.
int padded(int k) { return k <= 4 ? 4 : k <= 8 ? 8 : (k + 15) / 16 * 16; }

}  // namespace

std::vector<int32_t> KMeans::run(const int32_t* rows, int32_t n, int k, uint64_t seed,
                                 const Progress& progress) {
  k_ = k;
  lanes_ = padded(k);
  const int32_t m = static_cast<int32_t>(std::min<int64_t>(n, static_cast<int64_t>(options_.sample) * k));
  std::vector<int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  Random random(seed);
  for (int32_t i = 0; i < m; ++i) std::swap(order[i], order[i + random.below(n - i)]);

  std::vector<int32_t> drawn(m);
  for (int32_t i = 0; i < m; ++i) drawn[i] = rows[order[i]];
  const LocalBlock sample = makers_[0]->make(matrix_, drawn.data(), m, 0, progress, true);
  std::vector<int32_t> cluster;
  AlignedFloats similarity;
  similarity.reset(static_cast<int64_t>(m) * lanes_);
  start_from_first_rows(sample);
  // The first steps need few rows: it starts with some of the sample and goes on with twice as many.
  for (int64_t used = 0; used < m;) {
    used = std::min<int64_t>(m, used == 0 ? static_cast<int64_t>(options_.first_sample) * k : 2 * used);
    double before = -1;
    for (int iteration = 0; iteration < options_.max_iter; ++iteration) {
      parallel_ranges(n_threads(), used, kClusteredRowsPerTask, [&](int64_t begin, int64_t end, int) {
        progress.check();
        compare(sample, begin, end, similarity.data());
      });
      cluster = assign(similarity, static_cast<int32_t>(used));
      const double now = mean_similarity(similarity, cluster);
      if (now - before < options_.eps) break;
      before = now;
      move_centroids(sample, cluster);
    }
  }
  if (m == n) {
    std::vector<int32_t> in_order(n);
    for (int32_t i = 0; i < n; ++i) in_order[order[i]] = cluster[i];
    return in_order;
  }

  // All rows, by chunks; features that no row of the sample has count for nothing.
  const auto compare_chunk = [&](int64_t begin, int64_t end, int worker, float* similarity_of_chunk) {
    const LocalBlock chunk = makers_[worker]->make_like(sample, matrix_, rows + begin, end - begin, progress);
    compare(chunk, 0, end - begin, similarity_of_chunk);
  };
  if (options_.balanced) {  // who goes where depends on all
    similarity.reset(static_cast<int64_t>(n) * lanes_);
    parallel_ranges(n_threads(), n, kRowsPerChunk, [&](int64_t begin, int64_t end, int worker) {
      compare_chunk(begin, end, worker, similarity.data() + begin * lanes_);
    });
    return assign_balanced(similarity, n);
  }
  cluster.assign(n, -1);
  std::vector<AlignedFloats> of_worker(n_threads());
  parallel_ranges(n_threads(), n, kRowsPerChunk, [&](int64_t begin, int64_t end, int worker) {
    of_worker[worker].reserve(std::min<int64_t>(n, kRowsPerChunk) * lanes_);
    compare_chunk(begin, end, worker, of_worker[worker].data());
    find_nearest(of_worker[worker].data(), end - begin, cluster.data() + begin);
  });
  place_strangers(cluster);
  return cluster;
}

// similarity[row][lane] of some rows of a block and all centroids.
void KMeans::compare(const LocalBlock& block, int64_t begin, int64_t end, float* similarity) const {
  lane_kernels().multiply(block.rows(), begin, end, centroids_.data(), lanes_, similarity);
  for (int64_t row = begin; row < end; ++row) {
    for (int c = 0; c < lanes_; ++c) similarity[row * lanes_ + c] *= scale_[c];
  }
}

void KMeans::start_from_first_rows(const LocalBlock& block) {
  scale_.assign(lanes_, 1.0f);
  member_.clear();
  centroids_.reset(static_cast<int64_t>(block.n_features()) * lanes_);
  for (int c = 0; c < k_; ++c) {
    for (int64_t at = block.row_begin[c]; at < block.row_begin[c + 1]; ++at) {
      centroids_.data()[static_cast<int64_t>(block.index[at]) * lanes_ + c] = block.value[at];
    }
  }
}

std::vector<int32_t> KMeans::assign(const AlignedFloats& similarity, int32_t n) const {
  return options_.balanced ? assign_balanced(similarity, n) : assign_nearest(similarity, n);
}

std::vector<int32_t> KMeans::assign_nearest(const AlignedFloats& similarity, int32_t n) const {
  std::vector<int32_t> cluster(n);
  find_nearest(similarity.data(), n, cluster.data());
  place_strangers(cluster);
  return cluster;
}

// The cluster of each of n rows; -1 for a row that has nothing in common with any centroid.
void KMeans::find_nearest(const float* similarity, int64_t n, int32_t* cluster) const {
  for (int64_t i = 0; i < n; ++i) {
    const float* s = similarity + i * lanes_;
    const float* best = std::max_element(s, s + k_);
    cluster[i] = *best <= kNothingInCommon ? -1 : static_cast<int32_t>(best - s);
  }
}

// Rows without a cluster go where there is most room: if the first cluster got all such rows, it would have
// to be split again and again.
void KMeans::place_strangers(std::vector<int32_t>& cluster) const {
  std::vector<int32_t> size(k_);
  for (const int32_t c : cluster) {
    if (c >= 0) ++size[c];
  }
  for (int32_t& c : cluster) {
    if (c >= 0) continue;
    const auto smallest = std::min_element(size.begin(), size.end());
    c = static_cast<int32_t>(smallest - size.begin());
    ++*smallest;
  }
}

// Rows choose in the order of what they would lose by their second choice; a cluster that is full is out.
std::vector<int32_t> KMeans::assign_balanced(const AlignedFloats& similarity, int32_t n) const {
  std::vector<int32_t> room(k_);
  for (int c = 0; c < k_; ++c) room[c] = n / k_ + (c < n % k_);
  std::vector<std::pair<float, int32_t>> queue(n);  // minus the regret, so that it sorts ascending
  std::vector<int32_t> cluster(n);
  for (int32_t i = 0; i < n; ++i) {
    const float* s = similarity.data() + static_cast<int64_t>(i) * lanes_;
    float first = s[0], second = -2;
    for (int c = 1; c < k_; ++c) {
      if (s[c] > first) {
        second = first;
        first = s[c];
        cluster[i] = c;
      } else if (s[c] > second) {
        second = s[c];
      }
    }
    queue[i] = {second - first, i};
  }
  std::sort(queue.begin(), queue.end());
  for (const auto& [regret, i] : queue) {
    if (room[cluster[i]] == 0) {
      const float* s = similarity.data() + static_cast<int64_t>(i) * lanes_;
      int best = -1;
      for (int c = 0; c < k_; ++c) {
        if (room[c] > 0 && (best < 0 || s[c] > s[best])) best = c;
      }
      cluster[i] = best;
    }
    --room[cluster[i]];
  }
  return cluster;
}

double KMeans::mean_similarity(const AlignedFloats& similarity, const std::vector<int32_t>& cluster) const {
  double sum = 0;
  for (size_t i = 0; i < cluster.size(); ++i) sum += similarity.data()[i * lanes_ + cluster[i]];
  return sum / static_cast<double>(cluster.size());
}

// Centroids are sums of rows, which `scale_` makes unit vectors. Only rows that change their cluster are
// moved from sum to sum: after the first steps they are few.
void KMeans::move_centroids(const LocalBlock& block, const std::vector<int32_t>& cluster) {
  if (member_.empty()) {
    member_.assign(block.n_rows(), -1);
    squares_.assign(lanes_, 0.0);
    n_members_.assign(lanes_, 0);
    centroids_.reset(static_cast<int64_t>(block.n_features()) * lanes_);
  }
  for (size_t row = 0; row < cluster.size(); ++row) {
    if (member_[row] == cluster[row]) continue;
    if (member_[row] >= 0) add_row(block, row, member_[row], -1);
    add_row(block, row, cluster[row], 1);
    member_[row] = cluster[row];
  }
  for (int c = 0; c < lanes_; ++c) {
    // What is left of a cluster that lost all its rows is rounding.
    scale_[c] = n_members_[c] > 0 && squares_[c] > 0 ? static_cast<float>(1 / std::sqrt(squares_[c])) : 0;
  }
}

void KMeans::add_row(const LocalBlock& block, size_t row, int32_t cluster, float sign) {
  double gained = 0;
  for (int64_t k = block.row_begin[row]; k < block.row_begin[row + 1]; ++k) {
    float& sum = centroids_.data()[static_cast<int64_t>(block.index[k]) * lanes_ + cluster];
    const float before = sum;
    sum += sign * block.value[k];
    gained += static_cast<double>(sum - before) * (sum + before);
  }
  squares_[cluster] += gained;
  n_members_[cluster] += sign > 0 ? 1 : -1;
}

}  // namespace labeltree
