#include "agent/local_agent.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace sotto {

void BatchPadding::prepare(Eigen::Index dimension) {
    if (least_ == 0) return;
    rows_.resize(static_cast<std::size_t>(least_));
    std::iota(rows_.begin(), rows_.end(), Eigen::Index{0});
    sum_.resize(dimension);
}

void BatchPadding::work(Objective& objective,
                        const Eigen::Ref<const Eigen::VectorXd>& model,
                        Eigen::Index batch,
                        double clip_norm,
                        double grid_step) {
    const auto missing = static_cast<std::size_t>(std::max<Eigen::Index>(least_ - batch, 0));
    if (missing == 0) return;
    objective.clipped_gradient_sum(
        model, std::span(rows_).first(missing), clip_norm, grid_step, sum_);
}

}  // namespace sotto
