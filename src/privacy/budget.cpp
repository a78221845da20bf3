#include "sotto/privacy/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/plan/lagged_noise.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {

namespace {

constexpr NameTable<Calibration, 3> calibrations{
    {{{Calibration::exact, "exact"}, {Calibration::rdp, "rdp"}, {Calibration::paper, "paper"}}}};
constexpr NameTable<Adjacency, 4> adjacencies{
    {{{Adjacency::agent, "agent"},
      {Adjacency::record, "record"},
      {Adjacency::record_zero_out, "record-zero-out"},
      {Adjacency::record_add_remove, "record-add-remove"}}}};

}  // namespace

Calibration parse_calibration(std::string_view option, std::string_view text) {
    return calibrations.parse(option, text);
}
std::string name_of(Calibration calibration) { return calibrations.name_of(calibration); }
Adjacency parse_adjacency(std::string_view option, std::string_view text) {
    return adjacencies.parse(option, text);
}
std::string name_of(Adjacency adjacency) { return adjacencies.name_of(adjacency); }

PrivacyBudget make_budget(double epsilon, double delta, Calibration calibration) {
    require_positive("epsilon", epsilon);
    if (!(delta > 0 && delta < 1))
        throw ConfigError(
            fmt::format("delta: {} is not allowed (must lie strictly between 0 and 1)", delta));
    PrivacyBudget budget{epsilon, delta, calibration, 0, false};
    switch (calibration) {
        case Calibration::exact:
            budget.mu = gdp_mu(epsilon, delta);
            break;
        case Calibration::rdp:
            budget.mu = rdp_mu(epsilon, delta);
            break;
        case Calibration::paper: {
            budget.mu = paper_mu(epsilon, delta);
            const double reached = gdp_epsilon(budget.mu, delta);
            if (!(reached <= epsilon))
                throw ConfigError(fmt::format(
                    "calibration: 'paper' is not valid at epsilon {} and delta {}: its noise gives "
                    "epsilon {:.6g}; use exact or rdp",
                    epsilon,
                    delta,
                    reached));
            break;
        }
    }
    return budget;
}

PrivacyBudget make_pure_budget(double epsilon) {
    require_positive("epsilon", epsilon);
    return {epsilon, 0, Calibration::exact, epsilon, true};
}

Participation parse_participation(std::string_view option, std::string_view text) {
    if (text == "every") return {1};
    constexpr std::string_view prefix = "cyclic:";
    if (text.starts_with(prefix)) {
        const long long cycle = parse_integer(option, text.substr(prefix.size()));
        require_in_range(option, static_cast<double>(cycle), 1, 1e9);
        return {static_cast<long>(cycle)};
    }
    const std::vector<std::string> allowed{"every", "cyclic:b"};
    throw unknown_name_error(option, text, allowed);
}

std::string name_of(const Participation& participation) {
    return participation.cycle == 1 ? "every" : fmt::format("cyclic:{}", participation.cycle);
}

Exposure agent_exposure(Adjacency adjacency,
                        const Participation& participation,
                        double clip_norm,
                        long rounds,
                        Eigen::Index records,
                        std::optional<Eigen::Index> batch_size) {
    require_positive("clip-norm", clip_norm);
    require_in_range("rounds", static_cast<double>(rounds), 1, 1e12);
    Exposure exposure;
    exposure.temporal_sensitivity =
        temporal_sensitivity_squared(TemporalFactor{}, participation, rounds);
    if (adjacency == Adjacency::agent) {
        if (participation.cycle != 1)
            throw ConfigError(
                "participation: cyclic needs adjacency record; with adjacency agent all data of "
                "the "
                "agent changes, in every round");
        exposure.sensitivity = 2 * clip_norm;
        exposure.batch_size = batch_size.value_or(records);
        return exposure;
    }
    if (!batch_size && records == 0)
        throw ConfigError(
            "batch-size: 'all' needs the agents' numbers of records, which are unknown without "
            "their data (allowed here: a number, or adjacency agent)");
    Eigen::Index batch = batch_size.value_or(records);
    require_in_range("batch-size", static_cast<double>(batch), 1, 1e12);
    if (records > 0 && participation.cycle > records)
        throw ConfigError(fmt::format("participation: {} batches, but an agent has only {} records",
                                      participation.cycle,
                                      records));
    if (records > 0 && participation.cycle > 1)
        batch = (records + participation.cycle - 1) / participation.cycle;
    if (records > 0 && batch > records)
        throw ConfigError(
            fmt::format("batch-size: {} exceeds the {} records of an agent; its sensitivity is "
                        "2C/B only for full "
                        "batches (use a smaller batch, fewer agents, or a more even partition)",
                        batch,
                        records));
    exposure.batch_size = batch;
    exposure.sensitivity =
        (adjacency == Adjacency::record ? 2 : 1) * clip_norm / static_cast<double>(batch);
    return exposure;
}

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

double precision_limit(const PrivacyBudget& budget, const Exposure& exposure) {
    return budget.mu * budget.mu /
           (exposure.sensitivity * exposure.sensitivity * exposure.temporal_sensitivity);
}

}  // namespace sotto
