#include "training/estimate_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/host.hpp"
#include "core/numbers.hpp"
#include "core/stopwatch.hpp"
#include "net/host_networks.hpp"
#include "net/message_precision.hpp"
#include "noise/noise_source.hpp"
#include "planning/configured_gossip.hpp"
#include "sotto/core/error.hpp"
#include "training/short_messages.hpp"
#include "trust/seed_agreement.hpp"

namespace sotto {

namespace {

/// Throw-away key rings for time estimates. Nothing drawn from them is ever sent.
std::vector<KeyRing> throw_away_rings(const Network& network, const NoisePlan& plan) {
    const auto groups = groups_of_agents(plan);
    std::vector<KeyRing> rings;
    for (const int agent : network.local_agents()) {
        KeyRing& ring = rings.emplace_back(agent);
        for (const int group : groups[static_cast<std::size_t>(agent)])
            ring.add(group, SecretKey::random());
    }
    return rings;
}

/// Seconds per round, in the slowest process.
struct MeasuredRound {
    double compute = 0;  ///< gradients and noise
    double total = 0;    ///< with empty messages
};

/// Times one round of gradients and noise of the local agents; the result is discarded. @return [s]
double compute_round(PreparedRun& prepared,
                     NoiseSource& noise,
                     std::uint64_t batch,
                     std::uint64_t noise_round,
                     Eigen::MatrixXd& gradients,
                     Eigen::MatrixXd& messages) {
    const auto begin = Clock::now();
    for (std::size_t a = 0; a < prepared.agents.size(); ++a) {
        LocalAgent& agent = prepared.agents[a];
        for (int step = 0; step < prepared.run.config.plan.local_steps; ++step)
            agent.objective->mean_gradient(prepared.initial,
                                           agent.batches.rows(batch),
                                           gradients.col(static_cast<Eigen::Index>(a)));
    }
    noise.draw(0, noise_round, messages);
    return seconds_since(begin);
}

Eigen::MatrixXd no_messages(const PreparedRun& prepared, const NoiseSource& noise) {
    return Eigen::MatrixXd::Zero(prepared.initial.size(), std::ssize(noise.outputs()));
}

Eigen::MatrixXd no_gradients(const PreparedRun& prepared) {
    return Eigen::MatrixXd::Zero(prepared.initial.size(), std::ssize(prepared.agents));
}

NoiseSource throw_away_noise(const Run& run) {
    return {run.plan,
            throw_away_rings(run.network, run.plan),
            run.config.threads,
            run.most_past_bytes()};
}

/// COLLECTIVE.
MeasuredRound measure_round(PreparedRun& prepared, NoiseSource& noise) {
    Network& network = prepared.run.network;
    const long rounds = prepared.run.config.plan.rounds;
    const Eigen::VectorXd& initial = prepared.initial;
    Eigen::MatrixXd gradients = no_gradients(prepared), messages = no_messages(prepared, noise);
    const auto outgoing = outgoing_messages(noise.outputs(), messages, prepared.agents.size());
    const int repetitions = static_cast<int>(std::min(5L, rounds));
    // Where past noise is drawn again, the cost grows with the round: take an average one.
    const long first_round = noise.draws_past_again(initial.size())
                                 ? std::min<long>(noise.lags(), rounds - repetitions) / 2
                                 : 0;
    (void)network.maximum(0);  // start together
    const auto start = Clock::now();
    double compute = 0;
    for (int i = 0; i < repetitions; ++i) {
        compute += compute_round(prepared,
                                 noise,
                                 static_cast<std::uint64_t>(i),
                                 static_cast<std::uint64_t>(std::max(0L, first_round) + i),
                                 gradients,
                                 messages);
        for (int step = 0; step < exchanges_of(prepared.run.config.plan); ++step)
            network.exchange({i, step}, outgoing, initial.size(), [](auto, auto, auto, auto) {});
    }
    const double total = network.maximum(seconds_since(start));
    return {network.maximum(compute) / repetitions, total / repetitions};
}

/// Compute seconds on the host with most agents. A single process has computed for all agents, so
/// its time is scaled to that host's agents and to the cores of this machine.
double compute_on_host(const Network& network, const RankLayout& layout, double measured) {
    if (network.processes() > 1) return measured;
    const RankLayout::Load load = layout.heaviest();
    const int cores = std::min(load.ranks, usable_processors());
    return measured / network.agents() * load.agents / cores;
}

/// COLLECTIVE. @param compute seconds per round.
NetworkEstimate estimate_over(const NetworkSpec& spec,
                              const PreparedRun& prepared,
                              bool same_to_all,
                              double compute) {
    const Run& run = prepared.run;
    const RankLayout layout = rank_layout(spec, run.network);
    const ExchangeTime one = predict_exchange(spec.between_hosts(),
                                              run.topography.graph,
                                              layout.blocks,
                                              layout.host_of,
                                              {.dimension = prepared.initial.size(),
                                               .precision = run.network.message_precision(),
                                               .per_receiver = !same_to_all,
                                               .encrypted = run.config.link_encryption});
    const double exchanges = exchanges_of(run.config.plan);
    return {.latency_seconds = spec.latency_seconds,
            .bits_per_second = spec.bits_per_second,
            .hosts = static_cast<int>(std::ssize(layout.hosts)),
            .ranks = layout.blocks.processes(),
            .compute = compute_on_host(run.network, layout, compute),
            .latency = exchanges * one.latency_seconds,
            .transfer = exchanges * one.transfer_seconds,
            .busiest_host = layout.hosts[static_cast<std::size_t>(one.busiest_host)],
            .busiest_bytes = exchanges * one.busiest_bytes};
}

/// Messages from other processes that this process holds at once. One message serves all its agents
/// where noise does not depend on the receiver.
std::int64_t messages_from_others(const PreparedRun& prepared, const NoiseSource& noise) {
    const Network& network = prepared.run.network;
    const bool for_all = noise.outputs().size() == prepared.agents.size();
    std::int64_t links = 0;
    std::set<int> senders;
    for (const auto& agent : prepared.agents)
        for (const int other : prepared.run.topography.graph.heard(agent.id)) {
            if (network.blocks().process_of(other) == network.process()) continue;
            ++links;
            senders.insert(other);
        }
    return for_all ? std::ssize(senders) : links;
}

/// Vectors that a robust rule keeps of received messages, and agents of those that may be late.
std::int64_t kept_messages(const PreparedRun& prepared) {
    const TrainConfig& config = prepared.run.config;
    const long each = (config.robust.on() ? RobustMixing::vectors_per_member(config.robust) : 0) +
                      (config.round_deadline ? 1 + config.max_lag : 0);
    std::int64_t members = 0;
    for (const LocalAgent& agent : prepared.agents)
        members += std::ssize(prepared.run.topography.mixing.members(agent.id));
    return members * each;
}

/// Bytes of the vectors that this process holds.
double memory_bytes(const PreparedRun& prepared, const NoiseSource& noise) {
    const Run& run = prepared.run;
    const Eigen::Index dimension = prepared.initial.size();
    return static_cast<double>(
        Trainer::memory_bytes(dimension,
                              std::ssize(prepared.agents),
                              std::ssize(noise.outputs()),
                              messages_from_others(prepared, noise),
                              configured_gossip(run.phase, run.topography.mixing),
                              configured_smoothing(run.phase, run.topography),
                              run.topography.mixing.push_sum(),
                              run.config.plan.precondition_every > 0,
                              run.network.message_precision() == MessagePrecision::nibble,
                              kept_messages(prepared)) +
        noise.memory_bytes(dimension));
}

/// Bytes that all agents send in surveys, rounds and final gossip; of nibbles, if all values fit.
double bytes_of_run(const PreparedRun& prepared) {
    const Run& run = prepared.run;
    if (run.plan.aggregation != Aggregation::gossip) return 0;
    const auto words = static_cast<std::size_t>(prepared.initial.size());
    const auto measures = [&](const SurveyKind& kind) {
        return std::ranges::any_of(prepared.surveys,
                                   [&](const Survey& one) { return one.phase.survey == &kind; });
    };
    const double before = bytes_of_surveys(
        run.topography,
        {.moments = measures(survey_of_moments), .norms = measures(survey_of_norms)},
        prepared.moments.empty() ? 0 : prepared.moments.front()->dimension(),
        survey_precision(run.config));
    const double exchanges = static_cast<double>(run.config.plan.rounds) * exchanges_of(run.phase) +
                             configured_smoothing(run.phase, run.topography).final_gossip.steps();
    return before + exchanges * static_cast<double>(run.topography.graph.messages()) *
                        static_cast<double>(piece_bytes(run.network.message_precision(), words));
}

}  // namespace

double compute_seconds(PreparedRun& prepared) {
    NoiseSource noise = throw_away_noise(prepared.run);
    Eigen::MatrixXd gradients = no_gradients(prepared), messages = no_messages(prepared, noise);
    return prepared.run.network.maximum(compute_round(prepared, noise, 0, 0, gradients, messages));
}

RunEstimate estimate_run(PreparedRun& prepared) {
    const Run& run = prepared.run;
    NoiseSource noise = throw_away_noise(run);
    RunEstimate estimate;
    estimate.past_noise_again = noise.draws_past_again(prepared.initial.size());
    const MeasuredRound measured = measure_round(prepared, noise);
    estimate.seconds_per_round = measured.total;
    estimate.bytes = bytes_of_run(prepared);
    estimate.memory_mib = run.network.maximum(memory_bytes(prepared, noise)) / bytes_per_mib;
    if (run.config.network)
        estimate.network = estimate_over(*run.config.network,
                                         prepared,
                                         run.plan.same_message_to_all() && !run.config.secure_sum,
                                         measured.compute);
    return estimate;
}

namespace {

/// Assigns consecutive ranks to unnamed hosts.
RankLayout consecutive(AgentBlocks agents, int hosts) {
    const int ranks = agents.processes();
    const AgentBlocks of_hosts(ranks, hosts);
    RankLayout layout{agents, {}, {}};
    for (int rank = 0; rank < ranks; ++rank) layout.host_of.push_back(of_hosts.process_of(rank));
    for (int host = 0; host < hosts; ++host) layout.hosts.push_back(fmt::format("host {}", host));
    return layout;
}

/// The layout that the ranks really have. COLLECTIVE.
RankLayout as_placed(Network& network) {
    RankLayout layout{network.blocks(), {}, {}};
    for (std::string& name : network.all_gather(local_host_name(), most_line_bytes)) {
        const auto known = std::ranges::find(layout.hosts, name);
        layout.host_of.push_back(static_cast<int>(known - layout.hosts.begin()));
        if (known == layout.hosts.end()) layout.hosts.push_back(std::move(name));
    }
    return layout;
}

}  // namespace

RankLayout::Load RankLayout::heaviest() const {
    std::vector<Load> loads(hosts.size());
    for (int rank = 0; rank < blocks.processes(); ++rank) {
        Load& load = loads[static_cast<std::size_t>(host_of[static_cast<std::size_t>(rank)])];
        load.agents += blocks.size(rank);
        ++load.ranks;
    }
    return *std::ranges::max_element(loads, {}, &Load::agents);
}

RankLayout rank_layout(const NetworkSpec& spec, Network& network) {
    const bool alone = network.processes() == 1;
    const int ranks = spec.ranks.value_or(alone ? network.agents() : network.processes());
    const bool placed = !alone && !spec.hosts;
    const int hosts = spec.hosts.value_or(ranks);
    network.agree([&] {
        if (!alone && ranks != network.processes())
            throw ConfigError(fmt::format(
                "--network, ranks: {} is not allowed (the job has {}; start sotto alone to ask for "
                "another number)",
                ranks,
                network.processes()));
        if (ranks > network.agents())
            throw ConfigError(
                fmt::format("--network, ranks: {} is not allowed (at most one per agent, {})",
                            ranks,
                            network.agents()));
        if (hosts > ranks)
            throw ConfigError(fmt::format(
                "--network, hosts: {} is not allowed (at most one per rank, {})", hosts, ranks));
    });
    return placed ? as_placed(network) : consecutive({network.agents(), ranks}, hosts);
}

}  // namespace sotto
