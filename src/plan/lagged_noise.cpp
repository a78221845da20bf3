#include "sotto/plan/lagged_noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

/// Number of subdiagonals that hold more than rounding.
int lower_bandwidth(const Eigen::MatrixXd& lower) {
    const double negligible = 1e-14 * lower.cwiseAbs().maxCoeff();
    Eigen::Index band = 0;
    for (Eigen::Index s = 0; s < lower.cols(); ++s)
        for (Eigen::Index t = lower.rows() - 1; t > s + band; --t)
            if (std::abs(lower(t, s)) > negligible) {
                band = t - s;
                break;
            }
    return static_cast<int>(band);
}

}  // namespace

Eigen::MatrixXd dense_factor(const TemporalFactor& factor, long rounds) {
    if (factor.lower.rows() < rounds)
        throw PrivacyError(
            fmt::format("the plan's temporal factor covers {} rounds, the run has {}",
                        factor.lower.rows(),
                        rounds));
    if (factor.kind == TemporalFactor::Kind::dense)
        return factor.lower.topLeftCorner(rounds, rounds);
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(rounds, rounds);
    for (Eigen::Index t = 0; t < rounds; ++t)
        for (Eigen::Index b = 0; b < std::min<Eigen::Index>(factor.lower.cols(), t + 1); ++b)
            dense(t, t - b) = factor.lower(t, b);
    return dense;
}

double largest_round_precision(const TemporalFactor& factor) {
    if (factor.kind == TemporalFactor::Kind::identity) return 1;
    const Eigen::MatrixXd lower = dense_factor(factor, static_cast<long>(factor.lower.rows()));
    return lower.colwise().squaredNorm().maxCoeff();
}

LaggedNoise lagged_noise(const TemporalFactor& factor, long rounds, int most_lags) {
    LaggedNoise noise;
    if (factor.kind == TemporalFactor::Kind::identity) {
        noise.fresh = Eigen::VectorXd::Ones(rounds);
        noise.past.resize(rounds, 0);
        return noise;
    }
    const Eigen::MatrixXd lower = dense_factor(factor, rounds);
    const Eigen::MatrixXd inverse =
        lower.triangularView<Eigen::Lower>().solve(Eigen::MatrixXd::Identity(rounds, rounds));
    const int band = lower_bandwidth(lower);
    const int inverse_band = lower_bandwidth(inverse);
    noise.remembers_noise = band < inverse_band;
    noise.lags = std::min(band, inverse_band);
    if (noise.lags > most_lags) {
        noise.lags = -1;
        return noise;
    }
    noise.fresh = inverse.diagonal();
    noise.past = Eigen::MatrixXd::Zero(rounds, noise.lags);
    for (Eigen::Index t = 0; t < rounds; ++t)
        for (Eigen::Index j = 1; j <= std::min<Eigen::Index>(noise.lags, t); ++j)
            noise.past(t, j - 1) =
                noise.remembers_noise ? -lower(t, t - j) / lower(t, t) : inverse(t, t - j);
    return noise;
}

}  // namespace sotto
