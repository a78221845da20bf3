#include "commands/report/report_noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "account/sent_rounds.hpp"
#include "sotto/plan/lagged_noise.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

constexpr long most_rounds_inverted = 2000;
constexpr long most_rounds_shown = 200;

/// Variance of what a message from row to column carries; the diagonal is the copy agents keep.
Eigen::MatrixXd message_variance(const NoisePlan& plan, const Graph& graph) {
    Eigen::MatrixXd variance = Eigen::MatrixXd::Zero(plan.agents, plan.agents);
    for (const NoiseRow& row : plan.rows) {
        double sum = 0;
        for (std::size_t j = 0; j < row.streams.size(); ++j) {
            const NoiseStream& stream = plan.streams[static_cast<std::size_t>(row.streams[j])];
            sum +=
                unit_variance(stream.distribution) * std::pow(plan.scale * row.coefficients[j], 2);
        }
        if (row.receiver != NoiseRow::all_receivers) {
            variance(row.sender, row.receiver) = sum;
            continue;
        }
        for (const int receiver : graph.hearers(row.sender)) variance(row.sender, receiver) = sum;
    }
    return variance;
}

std::vector<std::string> names_of(const Graph& graph, const Membership& members) {
    std::vector<std::string> names;
    for (const int number : members.numbers) names.push_back(graph.label(number));
    return names;
}

HeatMap across_agents(const PrivacyPhase& phase, const Graph& graph) {
    const NoisePlan& plan = phase.plan;
    HeatMap map;
    map.names = names_of(graph, phase.members);
    const std::string unit = plan.entry == NoiseEntry::message ? "model units" : "gradient units";
    map.unit = unit + " squared";
    if (!plan.same_message_to_all() || plan.distribution() == StreamDistribution::laplace) {
        map.title = "Noise variance of every message";
        map.rows = "sender";
        map.columns = "receiver";
        map.text =
            "Rows send, columns receive; the diagonal is the noise of the copy an agent keeps. "
            "Streams belong to one agent each, so nothing is correlated across senders.";
        map.values = message_variance(plan, graph.induced_subgraph(phase.members.numbers));
        return map;
    }
    map.title = "Noise covariance across agents";
    map.rows = map.columns = "agent";
    map.text = plan.aggregation == Aggregation::trusted_mean
                   ? "The trusted aggregator adds one noise to the mean, so all agents share it."
                   : "R of one coordinate in one round. Off the diagonal: noise that two agents "
                     "have in common, of opposite signs where negative, so that mixing cancels it.";
    map.values = spatial_covariance(plan);
    return map;
}

/// Covariance of a unit stream's noise over rounds, (C_time^T C_time)^-1.
HeatMap over_rounds(const TemporalFactor& factor, long rounds) {
    const long used = std::min(rounds, most_rounds_inverted);
    const Eigen::MatrixXd inverse = dense_factor(factor, used)
                                        .triangularView<Eigen::Lower>()
                                        .solve(Eigen::MatrixXd::Identity(used, used));
    const long shown = std::min(used, most_rounds_shown);
    std::vector<Eigen::Index> sampled;
    HeatMap map;
    for (long i = 0; i < shown; ++i) {
        sampled.push_back(i * used / shown);
        map.names.push_back(std::to_string(sampled.back()));
    }
    const Eigen::MatrixXd rows = inverse(sampled, Eigen::all);
    map.values = rows * rows.transpose();
    map.title = "Noise covariance over rounds";
    map.rows = map.columns = "round";
    map.unit = "times the covariance across agents";
    map.text = fmt::format(
        "The temporal factor's covariance; negative: a round takes back noise of another. {}",
        shown < rounds ? fmt::format("{} of {} rounds{}.",
                                     shown,
                                     rounds,
                                     used < rounds ? fmt::format(", from the first {}", used)
                                                   : std::string(", evenly spaced"))
                       : fmt::format("All {} rounds.", rounds));
    return map;
}

}  // namespace

std::vector<HeatMap> noise_pictures(const RecordedRun& run) {
    std::vector<HeatMap> maps;
    const auto& phases = run.history.phases;
    for (std::size_t k = 0; k < phases.size(); ++k) {
        const PrivacyPhase& phase = phases[k];
        if (phase.plan.noiseless()) continue;
        const std::string which = phases.size() > 1
                                      ? fmt::format(", from round {}", phase.use.steps.first_round)
                                      : std::string();
        maps.push_back(across_agents(phase, run.built.topography.graph));
        maps.back().title += which;
        if (phase.plan.temporal.kind == TemporalFactor::Kind::identity) continue;
        const long rounds = rounds_sent(phases, k, run.rounds);
        if (rounds < 1) continue;
        maps.push_back(over_rounds(phase.plan.temporal, rounds));
        maps.back().title += which;
    }
    return maps;
}

}  // namespace sotto
