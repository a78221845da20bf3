#include "training/local_agents.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <memory>
#include <utility>

#include "agent/recording/recorded_wire.hpp"
#include "net/agreement.hpp"
#include "options/train_options.hpp"
#include "planning/configured_gossip.hpp"
#include "planning/corrections.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "trust/secret_coins.hpp"

namespace sotto {

SecretKey reproducible_coins(std::uint64_t noise_seed, std::uint32_t key_epoch, int number) {
    return SecretKey::from_noise_seed(
        noise_seed,
        "sotto.coins",
        (std::uint64_t{key_epoch} << 32) + static_cast<std::uint64_t>(number));
}

DealtRecords dealt_records(const Run& run, int number) {
    return {run.config.plan.participation.cycle, run.config.task.seed, number};
}

BatchSampler sampled_batches(Eigen::Index records,
                             double probability,
                             SecretKey key,
                             const DealtRecords& dealt) {
    // Shared, because std::function copies its captures.
    const auto coins = std::make_shared<const SecretCoins>(std::move(key), probability);
    const auto draw = [coins](std::uint64_t round,
                              Eigen::Index count,
                              std::vector<Eigen::Index>& rows) { coins->draw(round, count, rows); };
    return dealt.parts == 1 ? BatchSampler::drawn(records, draw)
                            : BatchSampler::drawn_from_parts(
                                  records, dealt.parts, dealt.seed, dealt.number, draw);
}

BatchSampler allocated_batches(Eigen::Index records,
                               long rounds_an_epoch,
                               SecretKey key,
                               long first_round) {
    const auto places = std::make_shared<SecretPlaces>(std::move(key), rounds_an_epoch);
    const auto draw =
        [places, first = static_cast<std::uint64_t>(first_round)](
            std::uint64_t round, Eigen::Index count, std::vector<Eigen::Index>& rows) {
            places->draw(round - first, count, rows);
        };
    return BatchSampler::drawn(records, draw);
}

Eigen::Index padded_batch(Eigen::Index records, double probability) {
    constexpr double too_small = 0x1p-40;
    const boost::math::binomial_distribution<double> drawn(static_cast<double>(records),
                                                           probability);
    const double most = boost::math::quantile(boost::math::complement(drawn, too_small));
    return std::min(records, static_cast<Eigen::Index>(std::ceil(most)));
}

namespace {

BatchSampler batches_of(
    Eigen::Index records, Eigen::Index batch_size, long cycle, std::uint64_t seed, int number) {
    // Adjacency of agents does not depend on the batch, so a small shard may use all its records.
    const Eigen::Index batch = std::min(records, batch_size);
    return cycle > 1 || batch == records  // one cycle: all records in every round
               ? BatchSampler::cyclic(records, cycle, seed, number)
               : BatchSampler::uniform(records, batch, seed, number);
}

/// State shared by the functions of batches_of_client.
struct ClientCoins {
    SecretCoins coins;
    BatchSampler batches;
    std::vector<Eigen::Index> heads{};
};

}  // namespace

BatchSampler batches_of_client(Eigen::Index records,
                               BatchSampler batches,
                               double probability,
                               SecretKey key,
                               int local_steps) {
    const auto client =
        std::make_shared<ClientCoins>(SecretCoins(std::move(key), probability), std::move(batches));
    const auto draw = [client, local_steps](
                          std::uint64_t batch, Eigen::Index, std::vector<Eigen::Index>& rows) {
        rows.clear();
        client->coins.draw(batch / static_cast<std::uint64_t>(local_steps), 1, client->heads);
        if (client->heads.empty()) return;
        const auto chosen = client->batches.rows(batch);
        rows.assign(chosen.begin(), chosen.end());
        std::ranges::sort(rows);
    };
    return BatchSampler::drawn(records, draw);
}

BatchSampler drawn_batches(const Run& run,
                           int number,
                           Eigen::Index records,
                           Eigen::Index batch_size,
                           double probability,
                           SecretKey key) {
    const PlanConfig& plan = run.config.plan;
    if (plan.participation.is_allocated())
        return allocated_batches(records,
                                 plan.participation.rounds_an_epoch,
                                 std::move(key),
                                 run.phase.steps.first_round);
    if (!plan.client_probability)
        return sampled_batches(records, probability, std::move(key), dealt_records(run, number));
    return batches_of_client(records,
                             batches_of(records, batch_size, 1, run.config.task.seed, number),
                             probability,
                             std::move(key),
                             plan.local_steps);
}

std::vector<LocalAgent> build_agents(const Run& run,
                                     std::vector<std::unique_ptr<Objective>> objectives,
                                     bool rows_are_rounds,
                                     const std::vector<Exposure>& exposures) {
    std::vector<LocalAgent> agents;
    const auto local = run.network.local_agents();
    const long cycle = run.config.plan.participation.cycle;
    for (std::size_t a = 0; a < local.size(); ++a) {
        const int id = local[a];
        const int number = run.members.number(id);
        const Eigen::Index records = objectives[a]->records();
        const Eigen::Index batch_size = exposures[static_cast<std::size_t>(id)].batch_size;
        BatchSampler batches =
            rows_are_rounds ? BatchSampler::in_order(records)
            : run.config.plan.participation.is_secret()
                // Placeholder in a run that opens: take_coins replaces it with the agent's own key.
                ? drawn_batches(run,
                                number,
                                records,
                                batch_size,
                                exposures[static_cast<std::size_t>(id)].sampling_probability,
                                SecretKey::random())
                : batches_of(records, batch_size, cycle, run.config.task.seed, number);
        LocalAgent& agent = agents.emplace_back(
            id, std::move(objectives[a]), std::move(batches), batch_size, number);
        if (run.config.pad_rounds)
            agent.padding = BatchPadding(
                padded_batch(agent.batches.largest_batch(),
                             exposures[static_cast<std::size_t>(id)].sampling_probability));
    }
    return agents;
}

namespace {

Received received_in(const Run& run) {
    if (run.plan.aggregation == Aggregation::trusted_mean) return Received::mean;
    return run.config.secure_sum ? Received::sum : Received::messages;
}

}  // namespace

RecordedRounds recorded_rounds(const Run& run, Eigen::Index dimension) {
    // A trusted aggregator takes one mean.
    const bool trusted = run.plan.aggregation == Aggregation::trusted_mean;
    return {run.plan, run.key_epoch, trusted ? 1 : exchanges_of(run.config.plan), dimension};
}

Recorders::Recorders(const Run& run,
                     std::span<const KeyRing> rings,
                     const std::filesystem::path& folder,
                     const RecordedRounds& rounds) {
    const std::vector<int>& recorded = run.config.record_views;
    const Graph& graph = run.topography.graph;
    const auto local = run.network.local_agents();
    const bool steps = run.config.records_steps();
    if (!recorded.empty() && !steps)
        views_ = std::make_unique<ViewRecorder>(
            folder,
            local,
            recorded,
            graph,
            rounds.plan,
            ViewRecorder::Setup{
                rounds.dimension, received_in(run), rounds.exchanges, rounds.key_epoch});
    for (const KeyRing& ring : rings)
        if (std::ranges::find(recorded, ring.agent()) != recorded.end())
            record_seeds(folder, rounds.plan, ring);
    if (run.config.record_wire)
        wire_ = std::make_unique<WireRecorder>(
            folder / "wire",
            local,
            graph,
            rounds.plan,
            WireRecorder::Setup{rounds.dimension,
                                run.config.secure_sum ? WireContent::shares
                                : steps               ? WireContent::steps
                                                      : WireContent::messages,
                                rounds.exchanges,
                                rounds.key_epoch,
                                run.config.plan.rounds});
}

void Recorders::observe(Trainer& trainer) const {
    if (views_) trainer.observe(views_.get());
    if (wire_) trainer.observe(wire_.get());
}

void Recorders::finish() const {
    if (views_) views_->finish();
    if (wire_) wire_->finish();
}

namespace {

std::string statement_on_shared_memory(const AgentBlocks& blocks) {
    return fmt::format(
        "{} agents run on {} ranks, consecutive ones on each, up to {} on one: agents of one rank "
        "share its memory. Whoever controls a rank sees the data, seeds and messages of its "
        "agents: to everybody else it is a coalition of them, so the figures for single observers "
        "do not bound what it learns.",
        blocks.agents(),
        blocks.processes(),
        blocks.most());
}

std::string statement_on_precision(MessagePrecision precision, const NoisePlan& plan) {
    if (precision == MessagePrecision::nibble)
        return "Messages are sent as differences from what others know, rounded to steps that "
               "follow from the plan, after their noise is added: what is sent is a function of "
               "what is counted, and no figure changes. Nothing of the rounding enters the mean "
               "of all models.";
    const double part = unit_roundoff(precision);
    const double deviation = largest_deviation(plan);
    return fmt::format(
        "Messages are rounded to {} after their noise is added, each value by at most {:.2g} of "
        "itself: what is sent is a function of what is counted, and no figure changes. Of the "
        "noise that should cancel, whose standard deviation is up to {:.3g} per coordinate, about "
        "{:.2g} may remain.",
        message_precisions.name_of(precision),
        part,
        deviation,
        part * deviation);
}

}  // namespace

void verify_same_options(Control& network, const TrainConfig& config) {
    require_same_options(network, agreement_lines(config));
}

void require_possible_exchange(const TrainConfig& config, const NoisePlan& plan) {
    if (config.secure_sum) require_summable(plan);
    require_possible_correction(config.plan, plan);
    if (plan.entry != NoiseEntry::gradient &&
        (config.plan.momentum > 0 || config.plan.final_gossip.value_or(0) > 0))
        throw ConfigError(fmt::format(
            "{}: not possible with a plan of mechanism {}, whose noise on messages is counted for "
            "single gradients and does not hide models (allowed: 0)",
            config.plan.momentum > 0 ? "momentum" : "final-gossip",
            plan.mechanism));
    if (config.record_wire && plan.aggregation == Aggregation::trusted_mean)
        throw ConfigError(fmt::format(
            "record-view: eavesdropper is not possible with mechanism {}, where messages go to "
            "a trusted aggregator and not from agent to agent (allowed: agents)",
            plan.mechanism));
}

std::vector<std::string> transport_statements(const TrainConfig& config,
                                              const Network& network,
                                              const NoisePlan& plan,
                                              bool optimality_gap) {
    const MessagePrecision precision = network.message_precision();
    std::vector<std::string> lines;
    const bool trusted = plan.aggregation == Aggregation::trusted_mean;
    if (network.processes() == 1)
        lines.emplace_back("All agents run in one process, which sees everything.");
    else if (trusted)
        lines.push_back(fmt::format(
            "The trusted aggregator sees every agent's message without noise: {} is a reference "
            "only.",
            plan.mechanism));
    else if (config.link_encryption)
        lines.emplace_back(
            "Messages between agents are encrypted and authenticated, each edge with keys of its "
            "own, and so is what evaluation collects; the guarantee does not count on it.");
    else
        lines.emplace_back("Messages between agents are not encrypted (--link-encryption off).");
    if (precision != MessagePrecision::float64)
        lines.push_back(statement_on_precision(precision, plan));
    if (network.processes() > 1 && !network.blocks().one_each())
        lines.push_back(statement_on_shared_memory(network.blocks()));
    if (network.processes() > 1)
        lines.push_back(fmt::format(
            "Evaluation shows the process that prints the figures every agent's model, losses, "
            "numbers of test records by class and the part of its gradients that the clip "
            "shortened{}: train on real secrets only where you trust it with them.",
            optimality_gap ? ", and, for the optimality gap, exact gradients and curvatures" : ""));
    if (network.processes() > 1 && config.secure_sum)
        lines.emplace_back(
            "What secure sums hide is counted without evaluation: whoever has all models of a "
            "round can solve for all its messages.");
    if (config.round_deadline)
        lines.emplace_back(
            "With --round-deadline, which messages come too late shows how long an agent's rounds "
            "take, and with sampled batches how many records they had, as times of messages always "
            "do (--pad-rounds hides it). What is missing costs utility, and no privacy.");
    if (config.robust.on())
        lines.push_back(fmt::format(
            "With --robust an agent no longer hears a neighbour whose messages lack the noise that "
            "both share. An honest one is left out with a probability below {:g} of delta, in "
            "every "
            "start of the run, and delta grows by no more; all else that receivers do with "
            "messages costs "
            "no privacy.",
            alarm_share_of_delta));
    if (!config.faults.none())
        lines.push_back(fmt::format("Agents have faults on purpose: {}. {}",
                                    name_of(config.faults),
                                    config.faults.liars().empty()
                                        ? "What they miss costs no privacy."
                                        : "No guarantee here covers the data of agents that lie."));
    if (!config.record_views.empty())
        lines.push_back(fmt::format(
            "The views of agents {} are recorded in the run directory, with their un-noised "
            "gradients and their seeds: whoever reads them is not bound by this ledger.",
            fmt::join(config.record_views, ", ")));
    if (config.record_wire)
        lines.push_back(fmt::format(
            "{} of all agents are recorded in the run directory as receivers decrypt them: whoever "
            "reads them is an eavesdropper of unencrypted links.",
            config.secure_sum ? "The masked shares" : "The messages"));
    return lines;
}

}  // namespace sotto
