#include "views/view_filter.hpp"

#include <algorithm>

#include "sotto/core/linear_algebra.hpp"
#include "views/dense_matrices.hpp"
#include "views/sparse_products.hpp"

namespace sotto {

namespace {

constexpr double steady_tolerance = 1e-13;

using Eigen::Index;
using Eigen::MatrixXd;

/// First round from which the steps and scales of every round are those of the round before.
long first_repeating_round(const ObservationModel& model) {
    const auto same = [&](long t) {
        for (int k = 0; k < model.gossip_steps; ++k)
            if (model.step_at[static_cast<std::size_t>(t * model.gossip_steps + k)] !=
                model.step_at[static_cast<std::size_t>((t - 1) * model.gossip_steps + k)])
                return false;
        return model.noise_scale[static_cast<std::size_t>(t)] ==
               model.noise_scale[static_cast<std::size_t>(t - 1)];
    };
    long round = model.rounds - 1;
    while (round > 0 && same(round)) --round;
    return round;
}

}  // namespace

ViewFilter::ViewFilter(const ObservationModel& model) : model_(model), steady_round_(model.rounds) {
    const long repeating = first_repeating_round(model);
    const long times = model.rounds * model.gossip_steps;
    MatrixXd covariance, round_before, moved;
    double scale = 0;  // largest variance of the round: what rounding is relative to
    for (long time = 0; time < times; ++time) {
        const long round = time / model.gossip_steps;
        if (time % model.gossip_steps == 0) {
            // Gains of this round repeat those of the round before where both it and the
            // covariance do.
            if (round > repeating && round_before.rows() == covariance.rows() &&
                largest_entry(covariance - round_before) <=
                    steady_tolerance * largest_entry(covariance)) {
                steady_round_ = round - 1;
                return;
            }
            round_before = covariance;
            scale = 0;
        }
        const LinearStep& step = model.at(time);
        const double noise = model.noise_at(time) * model.noise_at(time);
        const Index observed = step.observation.rows();
        const MatrixXd with_seen = times_transpose(covariance, step.observation);
        MatrixXd innovation = step.observation * with_seen;
        innovation += noise * step.observed_covariance;
        MatrixXd cross = step.transition * with_seen;
        cross += noise * step.cross_covariance;
        if (covariance.size() > 0) scale = std::max(scale, covariance.diagonal().maxCoeff());
        if (observed > 0)
            scale =
                std::max(scale, noise * MatrixXd(step.observed_covariance).diagonal().maxCoeff());
        Gain gain;
        gain.whitening = whiten(innovation, variance_rounding * scale);
        gain.gain = MatrixXd::Zero(cross.rows(), gain.whitening.rows.rows());
        add_product(1, cross, false, gain.whitening.rows, true, gain.gain);
        moved.resize(covariance.rows(), step.transition.rows());
        multiply_transpose(covariance, step.transition, moved);
        covariance.resize(step.transition.rows(), step.transition.rows());
        multiply_symmetric(step.transition, moved, covariance);
        covariance += noise * step.state_covariance;
        add_product(-1, gain.gain, false, gain.gain, true, covariance);
        gains_.push_back(std::move(gain));
    }
}

const ViewFilter::Gain& ViewFilter::at(long time) const {
    const long steps = model_.gossip_steps;
    const long round = std::min(time / steps, steady_round_);
    return gains_[static_cast<std::size_t>(round * steps + time % steps)];
}

}  // namespace sotto
