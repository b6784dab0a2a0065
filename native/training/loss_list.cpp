#include "training/loss_list.h"

#include <stdexcept>
#include <string>

#include "lanes/kernels.h"

namespace labeltree {

namespace {

struct NamedLoss {
  Loss loss;
  const char* name;
};

#define LABELTREE_NAMED_LOSS(name, Struct) {Loss::name, #name},
constexpr NamedLoss kLosses[] = {LABELTREE_LOSSES(LABELTREE_NAMED_LOSS)};
#undef LABELTREE_NAMED_LOSS

}  // namespace

void check_loss(Loss loss, LossUse use, const char* learner) {
  std::string taken, given = "an unknown loss, number " + std::to_string(static_cast<int>(loss));
  for (const NamedLoss& known : kLosses) {
    const bool takes = lane_kernels().takes_loss(known.loss, use);
    if (takes) taken += (taken.empty() ? "" : ", ") + std::string(known.name);
    if (known.loss != loss) continue;
    if (takes) return;
    given = known.name;
  }
  throw std::invalid_argument(std::string(learner) + " takes the losses " + taken + ", got " + given);
}

}  // namespace labeltree
