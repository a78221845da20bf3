#include "plan/lagged_noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr double negligible_share = 1e-14;

void require_covered(const TemporalFactor& factor, long rounds) {
    if (factor.lower.rows() < rounds)
        throw PrivacyError(
            fmt::format("the plan's temporal factor covers {} rounds, the run has {}",
                        factor.lower.rows(),
                        rounds));
}

/// Number of subdiagonals above rounding.
int lower_bandwidth(const Eigen::MatrixXd& lower) {
    const double negligible = negligible_share * lower.cwiseAbs().maxCoeff();
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

bool is_diagonal(const TemporalFactor& factor) {
    return factor.kind == TemporalFactor::Kind::banded && factor.lower.cols() == 1;
}

Eigen::MatrixXd dense_factor(const TemporalFactor& factor, long rounds) {
    if (factor.kind == TemporalFactor::Kind::identity)
        return Eigen::MatrixXd::Identity(rounds, rounds);
    require_covered(factor, rounds);
    if (factor.kind == TemporalFactor::Kind::dense)
        return factor.lower.topLeftCorner(rounds, rounds);
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(rounds, rounds);
    if (factor.kind == TemporalFactor::Kind::one_lag) {
        for (Eigen::Index s = 0; s < rounds; ++s) {
            dense(s, s) = 1 / factor.lower(s, 0);
            for (Eigen::Index t = s + 1; t < rounds; ++t)
                dense(t, s) = -factor.lower(t, 1) / factor.lower(t, 0) * dense(t - 1, s);
        }
        return dense;
    }
    for (Eigen::Index t = 0; t < rounds; ++t)
        for (Eigen::Index b = 0; b < std::min<Eigen::Index>(factor.lower.cols(), t + 1); ++b)
            dense(t, t - b) = factor.lower(t, b);
    return dense;
}

Eigen::VectorXd round_precisions(const TemporalFactor& factor, long rounds) {
    if (factor.kind == TemporalFactor::Kind::identity) return Eigen::VectorXd::Ones(rounds);
    require_covered(factor, rounds);
    if (factor.kind == TemporalFactor::Kind::dense)
        return factor.lower.topLeftCorner(rounds, rounds).colwise().squaredNorm();
    Eigen::VectorXd precisions = Eigen::VectorXd::Zero(rounds);
    if (factor.kind == TemporalFactor::Kind::banded) {
        for (Eigen::Index b = 0; b < std::min<Eigen::Index>(factor.lower.cols(), rounds); ++b)
            precisions.head(rounds - b) += factor.lower.col(b).segment(b, rounds - b).cwiseAbs2();
        return precisions;
    }
    // Below round t, column t of C_time is a multiple of column t + 1.
    for (Eigen::Index t = rounds - 1; t >= 0; --t) {
        const double own = 1 / factor.lower(t, 0);
        precisions(t) = own * own;
        if (t + 1 == rounds) continue;
        const double carried = own * factor.lower(t + 1, 1);
        precisions(t) += carried * carried * precisions(t + 1);
    }
    return precisions;
}

double largest_round_precision(const TemporalFactor& factor) {
    if (factor.kind == TemporalFactor::Kind::identity) return 1;
    return round_precisions(factor, static_cast<long>(factor.lower.rows())).maxCoeff();
}

LaggedNoise lagged_noise(const TemporalFactor& factor, long rounds, int most_lags) {
    LaggedNoise noise;
    if (factor.kind == TemporalFactor::Kind::identity) {
        noise.fresh = Eigen::VectorXd::Ones(rounds);
        noise.past.resize(rounds, 0);
        return noise;
    }
    if (factor.kind != TemporalFactor::Kind::dense) {
        require_covered(factor, rounds);
        const auto given = factor.lower.topRows(rounds);
        noise.remembers_noise = factor.kind == TemporalFactor::Kind::banded;
        const double negligible = negligible_share * given.cwiseAbs().maxCoeff();
        Eigen::Index lags = std::min<Eigen::Index>(given.cols(), rounds) - 1;
        while (lags > 0 &&
               !(given.col(lags).tail(rounds - lags).cwiseAbs().maxCoeff() > negligible))
            --lags;
        noise.lags = lags <= most_lags ? static_cast<int>(lags) : -1;
        if (noise.lags < 0) return noise;
        noise.past = given.middleCols(1, lags);
        noise.fresh = given.col(0);
        if (noise.remembers_noise) {
            noise.fresh = given.col(0).cwiseInverse();
            noise.past = -(noise.fresh.asDiagonal() * noise.past);
        }
        for (Eigen::Index t = 0; t < std::min<Eigen::Index>(lags, rounds); ++t)
            noise.past.row(t).tail(lags - t).setZero();  // nothing precedes the first round
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
