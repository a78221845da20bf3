#include "sotto/privacy/plan_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "message_noise.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "sotto/privacy/temporal_sensitivity.hpp"

namespace sotto {

namespace {

/// lambda_u of every agent (plan_use.hpp). @throws where no bound is known.
Eigen::VectorXd carried_on(const NoisePlan& plan, const PlanUse& use) {
    if (plan.temporal.kind != TemporalFactor::Kind::identity)
        refuse_noise(
            "is correlated over rounds and depends on the receiver, enters the message or is "
            "Laplace");
    if (use.gossip_steps != 1)
        throw ConfigError(
            fmt::format("gossip-steps: {} is not possible with mechanism {}, whose noise is on the "
                        "messages of a round's first step (allowed: 1)",
                        use.gossip_steps,
                        plan.mechanism));
    const Eigen::VectorXd beta = own_copy_weight(plan);
    if (plan.same_message_to_all()) return Eigen::VectorXd::Zero(plan.agents);
    if (use.own_weights.size() != plan.agents)
        throw Error(
            ExitCode::other,
            fmt::format("{} own weights of {} agents", use.own_weights.size(), plan.agents));
    Eigen::VectorXd lambda(plan.agents);
    for (int u = 0; u < plan.agents; ++u)
        // Rounded so that doubly stochastic weights are alike.
        lambda(u) = std::abs(std::round(use.own_weights(u) * (1 - beta(u)) * 0x1p40) * 0x1p-40);
    return lambda;
}

/// Of the rounds p, p + cycle, ... of the run: what each of those of the phase shows, e_t.
template <class Show>
void pile_up(const NoisePlan& plan,
             const PlanUse& use,
             long rounds,
             double lambda,
             long pattern,
             Show&& show) {
    const long first = use.steps.first_round;
    double moved = 0;
    for (long t = -first; t < rounds; ++t) {
        const double step = use.steps.at(t);
        moved *= lambda;
        if ((t + first) % use.participation.cycle == pattern) moved += step;
        if (t >= 0) show(plan.entry == NoiseEntry::gradient ? moved / step : moved);
    }
}

/// What they show together.
double piled_up(
    const NoisePlan& plan, const PlanUse& use, long rounds, double lambda, long pattern) {
    const StreamDistribution noise = plan.distribution();
    PrivacyLoss of_unit_noise;
    pile_up(plan, use, rounds, lambda, pattern, [&](double seen) {
        of_unit_noise += loss_of_distance(noise, seen);
    });
    return largest_squared_distance(noise, of_unit_noise);
}

bool on_gradients(const NoisePlan& plan) {
    return is_spatial(plan) && plan.entry == NoiseEntry::gradient;
}

long run_patterns(const PlanUse& use, long rounds) {
    return std::min(use.participation.cycle, use.steps.first_round + rounds);
}

}  // namespace

Eigen::VectorXd run_sensitivity_squared(const NoisePlan& plan, const PlanUse& use, long rounds) {
    if (rounds == 0) return Eigen::VectorXd::Zero(plan.agents);
    if (on_gradients(plan))
        return Eigen::VectorXd::Constant(
            plan.agents, temporal_sensitivity_squared(plan.temporal, use.participation, rounds));
    const Eigen::VectorXd lambda = carried_on(plan, use);
    Eigen::VectorXd result(plan.agents);
    std::map<double, double> known;  // by lambda: most agents share one
    for (int u = 0; u < plan.agents; ++u) {
        const auto [entry, fresh] = known.try_emplace(lambda(u), 0.0);
        if (fresh)
            for (long p = 0; p < run_patterns(use, rounds); ++p)
                entry->second = std::max(entry->second, piled_up(plan, use, rounds, lambda(u), p));
        result(u) = entry->second;
    }
    return result;
}

Eigen::MatrixXd pattern_sensitivity_squared(const NoisePlan& plan,
                                            const PlanUse& use,
                                            long rounds) {
    Eigen::MatrixXd result = Eigen::MatrixXd::Zero(plan.agents, run_patterns(use, rounds));
    if (rounds == 0) return result;
    if (on_gradients(plan)) {
        const Eigen::VectorXd here =
            pattern_sensitivities_squared(plan.temporal, use.participation, rounds);
        for (Eigen::Index j = 0; j < here.size(); ++j)
            result.col((use.steps.first_round + j) % use.participation.cycle).setConstant(here(j));
        return result;
    }
    const Eigen::VectorXd lambda = carried_on(plan, use);
    std::map<double, int> known;  // by lambda: most agents share one
    for (int u = 0; u < plan.agents; ++u) {
        const auto [entry, fresh] = known.try_emplace(lambda(u), u);
        for (Eigen::Index p = 0; p < result.cols(); ++p)
            result(u, p) = fresh ? piled_up(plan, use, rounds, lambda(u), static_cast<long>(p))
                                 : result(entry->second, p);
    }
    return result;
}

Eigen::VectorXd largest_round_shifts(const NoisePlan& plan, const PlanUse& use, long rounds) {
    if (on_gradients(plan))
        return Eigen::VectorXd::Constant(
            plan.agents, largest_round_shift(plan.temporal, use.participation, rounds));
    const Eigen::VectorXd lambda = carried_on(plan, use);
    Eigen::VectorXd result = Eigen::VectorXd::Zero(plan.agents);
    std::map<double, int> known;  // by lambda: most agents share one
    for (int u = 0; u < plan.agents; ++u) {
        const auto [entry, fresh] = known.try_emplace(lambda(u), u);
        for (long p = 0; fresh && p < run_patterns(use, rounds); ++p)
            pile_up(plan, use, rounds, lambda(u), p, [&](double seen) {
                result(u) = std::max(result(u), seen);
            });
        result(u) = result(entry->second);
    }
    return result;
}

Eigen::VectorXd largest_message_variance(const NoisePlan& plan) {
    Eigen::VectorXd largest = Eigen::VectorXd::Zero(plan.agents);
    const double unit = unit_variance(plan.distribution());
    for (const auto& row : plan.rows) {
        double squares = 0;
        for (const double coefficient : row.coefficients) squares += coefficient * coefficient;
        largest(row.sender) =
            std::max(largest(row.sender), unit * plan.scale * plan.scale * squares);
    }
    return largest;
}

}  // namespace sotto
