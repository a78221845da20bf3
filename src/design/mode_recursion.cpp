#include "design/mode_recursion.hpp"

namespace sotto {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

ModeState::ModeState(Index modes_count, Index lag_count)
    : lags(MatrixXd::Zero(lag_count, lag_count)),
      modes(MatrixXd::Zero(modes_count, lag_count)),
      variance(VectorXd::Zero(modes_count)) {}

RoundNoise ModeState::noise_of_round(const LaggedNoise& noise, Index t) const {
    RoundNoise round;
    round.past = noise.past.row(t).transpose();
    round.with_lags = lags * round.past;
    round.with_modes = modes * round.past;
    round.variance = noise.fresh(t) * noise.fresh(t) + round.past.dot(round.with_lags);
    return round;
}

void ModeState::advance(const LaggedNoise& noise,
                        const RoundNoise& round,
                        const VectorXd& values,
                        double step,
                        Index t) {
    variance = (values.array().square() * (variance.array() + 2 * step * round.with_modes.array() +
                                           step * step * round.variance))
                   .matrix();
    if (noise.lags == 0) return;
    // Covariance of v, and of y and h before the round, with the new h_1 (v, or fresh noise).
    const bool remembers = noise.remembers_noise;
    const double own = remembers ? round.variance : noise.fresh(t);
    for (Index k = noise.lags - 1; k > 0; --k)
        modes.col(k) = values.cwiseProduct(
            modes.col(k - 1) + VectorXd::Constant(values.size(), step * round.with_lags(k - 1)));
    modes.col(0) =
        values.cwiseProduct((remembers ? round.with_modes : VectorXd::Zero(values.size())) +
                            VectorXd::Constant(values.size(), step * own));
    if (noise.lags > 1) {
        const Index kept = noise.lags - 1;
        const MatrixXd shifted = lags.topLeftCorner(kept, kept);
        lags.bottomRightCorner(kept, kept) = shifted;
        const VectorXd with_first =
            remembers ? VectorXd(round.with_lags.head(kept)) : VectorXd::Zero(kept);
        lags.col(0).tail(kept) = with_first;
        lags.row(0).tail(kept) = with_first.transpose();
    }
    lags(0, 0) = remembers ? round.variance : 1;
}

VectorXd mode_gains(const LaggedNoise& noise,
                    const VectorXd& values,
                    std::span<const double> step_sizes) {
    ModeState state(values.size(), noise.lags);
    VectorXd gains = VectorXd::Zero(values.size());
    for (std::size_t t = 0; t < step_sizes.size(); ++t) {
        const auto round = static_cast<Index>(t);
        state.advance(noise, state.noise_of_round(noise, round), values, step_sizes[t], round);
        gains += state.variance;
    }
    return gains;
}

}  // namespace sotto
