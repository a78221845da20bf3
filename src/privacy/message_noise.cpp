#include "message_noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/privacy/plan_use.hpp"

namespace sotto {

namespace {

constexpr double rank_cut_off = 1e-11;
constexpr double outside_range = 1e-9;

[[noreturn]] void refuse(const std::string& what) {
    throw PrivacyError("noise plan: no bound is known here for noise that " + what);
}

/// The noise of one agent's messages of one round.
struct OwnNoise {
    Eigen::MatrixXd others;  // receivers other than itself x streams, without the plan's scale
    Eigen::RowVectorXd own;  // of the copy it keeps
};

std::vector<OwnNoise> own_noises(const NoisePlan& plan) {
    std::vector<std::vector<const NoiseRow*>> rows(static_cast<std::size_t>(plan.agents));
    for (const auto& row : plan.rows) rows[static_cast<std::size_t>(row.sender)].push_back(&row);
    std::vector<OwnNoise> result;
    for (const auto& of_sender : rows) {
        std::map<int, Eigen::Index> column;
        for (const NoiseRow* row : of_sender)
            for (const int stream : row->streams) {
                const auto group =
                    static_cast<std::size_t>(plan.streams[static_cast<std::size_t>(stream)].group);
                if (plan.groups[group].members.size() > 1)
                    refuse("depends on the receiver (or is Laplace) and is shared by agents");
                column.try_emplace(stream, static_cast<Eigen::Index>(column.size()));
            }
        OwnNoise noise;
        const auto streams = static_cast<Eigen::Index>(column.size());
        noise.others.resize(0, streams);
        noise.own = Eigen::RowVectorXd::Zero(streams);
        for (const NoiseRow* row : of_sender) {
            Eigen::RowVectorXd coefficients = Eigen::RowVectorXd::Zero(streams);
            for (std::size_t j = 0; j < row->streams.size(); ++j)
                coefficients(column[row->streams[j]]) = row->coefficients[j];
            const bool to_all = row->receiver == NoiseRow::all_receivers;
            if (to_all || row->receiver == row->sender) noise.own = coefficients;
            if (to_all || row->receiver != row->sender) {
                noise.others.conservativeResize(noise.others.rows() + 1, streams);
                noise.others.bottomRows(1) = coefficients;
            }
        }
        result.push_back(std::move(noise));
    }
    return result;
}

/// Solves others^T beta = target in the least-squares sense; nothing where the target is outside.
std::optional<Eigen::VectorXd> combination(const Eigen::MatrixXd& factor,
                                           const Eigen::VectorXd& target) {
    if (!(target.squaredNorm() > 0)) return Eigen::VectorXd::Zero(factor.cols());
    if (factor.size() == 0) return std::nullopt;
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
    decomposition.setThreshold(rank_cut_off);
    decomposition.compute(factor);
    Eigen::VectorXd solution = decomposition.solve(target);
    if (!((factor * solution - target).norm() <= outside_range * target.norm()))
        return std::nullopt;
    return solution;
}

double precision_of(const NoisePlan& plan, const OwnNoise& noise) {
    if (noise.others.rows() == 0) return 0;  // it sends nothing
    const Eigen::MatrixXd q = plan.scale * noise.others;
    const Eigen::VectorXd ones = Eigen::VectorXd::Ones(q.rows());
    if (plan.distribution() == StreamDistribution::laplace) {
        // One Laplace stream, the same in all messages: anything else has no bound here.
        for (Eigen::Index v = 0; v < q.rows(); ++v)
            if (q.cols() != 1 || q(v, 0) != q(0, 0))
                refuse("is Laplace and not one stream an agent");
        return q(0, 0) != 0 ? 1 / (q(0, 0) * q(0, 0)) : infinity;
    }
    // |z|^2 for the shortest z with Q z = 1.
    const auto shortest = combination(q, ones);
    return shortest ? shortest->squaredNorm() : infinity;
}

}  // namespace

bool is_spatial(const NoisePlan& plan) {
    return plan.same_message_to_all() && plan.distribution() == StreamDistribution::gaussian;
}

Eigen::VectorXd message_precision(const NoisePlan& plan, std::span<const int> coalition) {
    const auto noises = own_noises(plan);
    Eigen::VectorXd precision(plan.agents);
    for (int u = 0; u < plan.agents; ++u)
        precision(u) = std::binary_search(coalition.begin(), coalition.end(), u)
                           ? infinity
                           : precision_of(plan, noises[static_cast<std::size_t>(u)]);
    return precision;
}

Eigen::VectorXd own_copy_weight(const NoisePlan& plan) {
    if (plan.same_message_to_all()) return Eigen::VectorXd::Ones(plan.agents);
    const auto noises = own_noises(plan);
    Eigen::VectorXd weight(plan.agents);
    for (int u = 0; u < plan.agents; ++u) {
        const OwnNoise& noise = noises[static_cast<std::size_t>(u)];
        const auto beta = combination(noise.others.transpose(), noise.own.transpose());
        if (!beta) refuse("an agent adds to its own copy only");
        weight(u) = beta->sum();
    }
    return weight;
}

namespace {

/// lambda_u of every agent (plan_use.hpp). @throws where no bound is known.
Eigen::VectorXd carried_on(const NoisePlan& plan, const PlanUse& use) {
    if (plan.temporal.kind != TemporalFactor::Kind::identity)
        refuse(
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

/// Of the rounds p, p + cycle, ... of the run: what those of the phase show.
double piled_up(
    const NoisePlan& plan, const PlanUse& use, long rounds, double lambda, long pattern) {
    const long first = use.steps.first_round;
    double moved = 0, sum = 0, squares = 0;
    for (long t = -first; t < rounds; ++t) {
        const double step = use.steps.at(t);
        moved *= lambda;
        if ((t + first) % use.participation.cycle == pattern) moved += step;
        if (t < 0) continue;
        const double seen = plan.entry == NoiseEntry::gradient ? moved / step : moved;
        sum += seen;
        squares += seen * seen;
    }
    return plan.distribution() == StreamDistribution::laplace ? sum * sum : squares;
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

Eigen::VectorXd largest_message_variance(const NoisePlan& plan) {
    Eigen::VectorXd largest = Eigen::VectorXd::Zero(plan.agents);
    const double unit = plan.distribution() == StreamDistribution::laplace ? 2 : 1;
    for (const auto& row : plan.rows) {
        double squares = 0;
        for (const double coefficient : row.coefficients) squares += coefficient * coefficient;
        largest(row.sender) =
            std::max(largest(row.sender), unit * plan.scale * plan.scale * squares);
    }
    return largest;
}

}  // namespace sotto
