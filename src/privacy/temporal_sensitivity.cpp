#include "sotto/privacy/temporal_sensitivity.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/plan/lagged_noise.hpp"

namespace sotto {

namespace {

/// sum over earlier rounds s of the pattern of round t of |X_st|, X = C_time^T C_time, for every t.
Eigen::VectorXd earlier_of_pattern(const TemporalFactor& factor,
                                   const Eigen::VectorXd& precisions,
                                   long cycle) {
    const Eigen::Index rounds = precisions.size();
    const Eigen::MatrixXd& lower = factor.lower;
    Eigen::VectorXd earlier = Eigen::VectorXd::Zero(rounds);
    if (factor.kind == TemporalFactor::Kind::banded) {
        // X_st sums over the rows r >= t that both columns reach.
        const Eigen::Index width = lower.cols();
        for (Eigen::Index t = 0; t < rounds; ++t)
            for (Eigen::Index lag = cycle; lag < width && lag <= t; lag += cycle) {
                double sum = 0;
                for (Eigen::Index b = 0; b + lag < width && t + b < rounds; ++b)
                    sum += lower(t + b, b) * lower(t + b, b + lag);
                earlier(t) += std::abs(sum);
            }
        return earlier;
    }
    // One lag: from row t on, column s of C_time is that of t times what lies between.
    for (Eigen::Index t = cycle; t < rounds; ++t) {
        double between = lower(t, 0) / lower(t - cycle, 0);
        for (Eigen::Index r = t; r > t - cycle; --r) between *= std::abs(lower(r, 1) / lower(r, 0));
        earlier(t) =
            between * (precisions(t) + earlier(t - cycle) * precisions(t) / precisions(t - cycle));
    }
    return earlier;
}

}  // namespace

double temporal_sensitivity_squared(const TemporalFactor& factor,
                                    const Participation& participation,
                                    long rounds) {
    if (factor.kind == TemporalFactor::Kind::identity)
        return static_cast<double>((rounds + participation.cycle - 1) / participation.cycle);
    return rounds == 0 ? 0
                       : pattern_sensitivities_squared(factor, participation, rounds).maxCoeff();
}

Eigen::VectorXd pattern_sensitivities_squared(const TemporalFactor& factor,
                                              const Participation& participation,
                                              long rounds) {
    const long cycle = participation.cycle;
    const long patterns = std::min(cycle, rounds);
    const auto length = [&](long pattern) { return (rounds - pattern + cycle - 1) / cycle; };
    Eigen::VectorXd result(patterns);
    if (factor.kind == TemporalFactor::Kind::identity) {
        for (long j = 0; j < patterns; ++j) result(j) = static_cast<double>(length(j));
        return result;
    }
    if (factor.kind != TemporalFactor::Kind::dense) {
        const Eigen::VectorXd precisions = round_precisions(factor, rounds);
        const Eigen::VectorXd terms =
            precisions + 2 * earlier_of_pattern(factor, precisions, cycle);
        for (long j = 0; j < patterns; ++j)
            result(j) = terms(Eigen::seqN(j, length(j), cycle)).sum();
        return result;
    }
    const Eigen::MatrixXd lower = dense_factor(factor, rounds);
    for (long j = 0; j < patterns; ++j) {
        // Only rounds of one pattern meet.
        const Eigen::MatrixXd pattern = lower(Eigen::all, Eigen::seqN(j, length(j), cycle));
        result(j) = (pattern.transpose() * pattern).cwiseAbs().sum();
    }
    return result;
}

double largest_round_shift(const TemporalFactor& factor,
                           const Participation& participation,
                           long rounds) {
    if (rounds == 0) return 0;
    if (factor.kind == TemporalFactor::Kind::identity) return 1;
    (void)round_precisions(factor, rounds);  // throws if the factor ends before
    const long cycle = participation.cycle;
    const Eigen::MatrixXd lower = factor.lower.cwiseAbs();
    double largest = 0;
    for (long j = 0; j < std::min(cycle, rounds); ++j) {
        double carried = 0;  // of the round before; one lag only
        for (long s = 0; s < rounds; ++s) {
            double shift = 0;
            if (factor.kind == TemporalFactor::Kind::dense)
                for (long t = j; t <= s; t += cycle) shift += lower(s, t);
            else if (factor.kind == TemporalFactor::Kind::banded)
                for (long b = 0; b < lower.cols() && b <= s; ++b)
                    shift += (s - b) % cycle == j ? lower(s, b) : 0;
            else
                shift = ((s % cycle == j ? 1.0 : 0.0) + lower(s, 1) * carried) / lower(s, 0);
            carried = shift;
            largest = std::max(largest, shift);
        }
    }
    return largest;
}

}  // namespace sotto
