#include "views/temporal_model.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace sotto {

namespace {

using Eigen::MatrixXd;

/// Whether whitening all observations at once is less work than past noise in the state.
/// @param model without past noise.
bool whitening_at_once_is_less_work(const ObservationModel& model,
                                    const std::vector<LaggedNoise>& noises,
                                    const ProcessRounds& where) {
    double draws = 0, remembered = 0;
    for (std::size_t i = 0; i < noises.size(); ++i) {
        const auto sources = static_cast<double>(model.source_factors[i].rows());
        draws += sources * static_cast<double>(where.stretches[i].rounds);
        remembered = std::max(remembered, noises[i].lags * sources);
    }
    const double state = static_cast<double>(model.state_size()) + remembered;
    const auto values = static_cast<double>(model.observed_values());
    const auto t = static_cast<double>(model.rounds);
    const double whole = values * values * (values / 3 + draws);
    const double filtered = state * state * (4 * values + 20 * t * model.gossip_steps);
    return filtered > whole;
}

MatrixXd inverse_time_factor(const ProcessRounds& where, long rounds) {
    MatrixXd inverse = MatrixXd::Zero(rounds, rounds);
    for (const NoiseStretch& stretch : where.stretches)
        inverse.block(stretch.begin, stretch.begin, stretch.rounds, stretch.rounds) =
            time_factor(stretch).triangularView<Eigen::Lower>().solve(
                MatrixXd::Identity(stretch.rounds, stretch.rounds));
    return inverse;
}

}  // namespace

TemporalModel make_temporal_model(const MessageProcess& process,
                                  const ProcessRounds& where,
                                  const View& view) {
    std::vector<LaggedNoise> noises, plain;
    int lags = 0;
    for (const NoiseStretch& stretch : where.stretches) {
        noises.push_back(
            lagged_noise(stretch.plan->temporal, stretch.rounds, static_cast<int>(stretch.rounds)));
        plain.push_back(lagged_noise({}, stretch.rounds, 0));
        plain.back().independent_rounds = false;
        lags = std::max(lags, noises.back().lags);
    }
    if (lags > 0) {
        ObservationModel model = make_observation_model(process, view, plain);
        if (whitening_at_once_is_less_work(model, noises, where)) {
            MatrixXd inverse = inverse_time_factor(where, model.rounds);
            return {std::move(model), std::move(inverse)};
        }
    }
    return {make_observation_model(process, view, noises), {}};
}

}  // namespace sotto
