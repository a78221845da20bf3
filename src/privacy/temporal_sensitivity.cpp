#include "sotto/privacy/temporal_sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
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

/// How many rows below round s the column of C_time reaches, among the leading `rounds`.
long column_reach(const TemporalFactor& factor, long s, long rounds) {
    const Eigen::MatrixXd& lower = factor.lower;
    if (factor.kind == TemporalFactor::Kind::one_lag) {
        long reach = 0;
        while (s + reach + 1 < rounds && lower(s + reach + 1, 1) != 0) ++reach;
        return reach;
    }
    const bool banded = factor.kind == TemporalFactor::Kind::banded;
    long reach = banded ? std::min<long>(lower.cols(), rounds - s) - 1 : rounds - 1 - s;
    while (reach > 0 && (banded ? lower(s + reach, reach) : lower(s + reach, s)) == 0) --reach;
    return reach;
}

}  // namespace

void require_separate_rounds(const TemporalFactor& factor,
                             const Participation& participation,
                             long rounds) {
    if (!participation.poisson || factor.kind == TemporalFactor::Kind::identity) return;
    constexpr double longest_column = 1 + 1e-9;  // squared; but for rounding 1
    const Eigen::VectorXd precisions = round_precisions(factor, rounds);
    for (long s = 0; s < rounds; ++s) {
        const long reach = column_reach(factor, s, rounds);
        if (reach >= participation.cycle)
            throw ConfigError(fmt::format(
                "participation: {} is not possible with noise of which round {} shares some with "
                "round {}, since nothing is proved for sampled rounds of one record that share "
                "noise (allowed: cyclic-poisson:b with --temporal banded:B and B below b, or "
                "--temporal-restart b, or independent rounds)",
                name_of(participation),
                s,
                s + reach));
        if (!(precisions(s) <= longest_column))
            throw ConfigError(fmt::format(
                "participation: {} is not possible with a temporal factor whose column {} has the "
                "squared length {:.6g}, which would count more than one round (allowed: columns of "
                "length 1, as those of mafalda and space-time with --temporal banded:B; not "
                "one-lag)",
                name_of(participation),
                s,
                precisions(s)));
    }
}

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
    if (participation.poisson) {
        require_separate_rounds(factor, participation, rounds);
        const double longest = std::max(1.0, round_precisions(factor, rounds).maxCoeff());
        for (long j = 0; j < patterns; ++j) result(j) = longest * static_cast<double>(length(j));
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
