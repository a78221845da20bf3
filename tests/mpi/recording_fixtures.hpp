#pragma once

// Records what agents see and send on any Network, and compares the files of all agents with each
// other and with the equations of a round.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/recording/recorded_view.hpp"
#include "agent/recording/recorded_wire.hpp"
#include "mpi/trainer_fixtures.hpp"
#include "sotto/graph/mixing_schedule.hpp"
#include "sums/secure_sum.hpp"

namespace sotto::test {

/// A run that is recorded.
struct RecordedCase {
    std::string label;  ///< letters only: names a test
    std::string mechanism;
    int gossip_steps = 1;
    bool secure_sum = false;
    std::string schedule = "fixed";  ///< or "random"; "resting": nobody sends in odd rounds
};
inline void PrintTo(const RecordedCase& entry, std::ostream* out) { *out << entry.label; }

inline std::vector<RecordedCase> recorded_cases() {
    return {{"Messages", "decor"},
            {"GossipSteps", "decor", 3},
            {"CorrelatedRounds", "anti-pgd"},
            {"ZipDl", "zip-dl"},
            {"Homomorphic", "homomorphic"},
            {"RandomSchedule", "ldp", 1, false, "random"},
            {"RandomScheduleOfGossipSteps", "ldp", 2, false, "random"},
            {"RestingRounds", "ldp", 2, false, "resting"},
            {"SecureSums", "decor", 1, true},
            {"SecureSumsOfGossipSteps", "ldp", 3, true},
            {"SecureSumsOnASchedule", "ldp", 1, true, "random"},
            {"TrustedMean", "cdp"}};
}

inline Topography topography_of(const RecordedCase& entry, int agents) {
    if (entry.schedule == "random") {
        TopologySpec spec;
        spec.agents = agents;
        spec.graph_seed = 2;
        spec.topology = Topology::path;
        ScheduledMixing random = random_schedule(spec, "metropolis", 3);
        return with_schedule(std::move(random.graph), std::move(random.matrices));
    }
    Topography topography = topography_of(Topology::erdos_renyi, agents, 0.6);
    if (entry.schedule == "resting")
        topography.later_mixing.push_back(
            MixingMatrix::from_dense(topography.graph, Eigen::MatrixXd::Identity(agents, agents)));
    return topography;
}

/// A recording of all agents of a network, and what was kept beside it.
struct RecordedRun {
    Topography topography;
    NoisePlan plan;
    NoiseRun run;
    Eigen::MatrixXd models;  ///< of local agents, after the last round
};

/// Runs and records all local agents in `folder`; on the wire too, except with a trusted mean.
/// COLLECTIVE.
inline RecordedRun record_run(Network& network,
                              const RecordedCase& entry,
                              const std::filesystem::path& folder,
                              NoiseRun run,
                              std::vector<RoundObserver*> observers = {}) {
    Topography topography = topography_of(entry, network.agents());
    const NoisePlan plan = plan_of({entry.label, entry.mechanism, {Utility::Kind::one_step, 1}},
                                   topography,
                                   uneven_limits(network.agents()));
    run.gossip = entry.gossip_steps;
    run.secure_sum = entry.secure_sum;
    const bool mean = plan.aggregation == Aggregation::trusted_mean;
    ViewRecorder views(folder,
                       network.local_agents(),
                       network.local_agents(),
                       topography.graph,
                       plan,
                       {run.dimension,
                        mean               ? Received::mean
                        : entry.secure_sum ? Received::sum
                                           : Received::messages,
                        entry.gossip_steps,
                        0});
    observers.push_back(&views);
    std::optional<WireRecorder> wire;
    if (!mean) {
        wire.emplace(
            folder / "wire",
            network.local_agents(),
            topography.graph,
            plan,
            WireRecorder::Setup{run.dimension,
                                entry.secure_sum ? WireContent::shares : WireContent::messages,
                                entry.gossip_steps,
                                0});
        observers.push_back(&*wire);
    }
    Eigen::MatrixXd models = observe_rounds(network, topography, plan, run, observers);
    views.finish();
    if (wire) wire->finish();
    return {std::move(topography), plan, run, std::move(models)};
}

inline std::filesystem::path view_file(const std::filesystem::path& folder, int agent) {
    return folder / std::to_string(agent) / "view.bin";
}
inline std::filesystem::path wire_file(const std::filesystem::path& folder, int agent) {
    return folder / "wire" / std::to_string(agent) / "messages.bin";
}

inline std::vector<WireRecord> read_wire(const std::filesystem::path& file, WireHeader& header) {
    WireReader reader(file);
    header = reader.header();
    std::vector<WireRecord> records;
    for (WireRecord record; reader.next(record);) records.push_back(record);
    return records;
}

inline Eigen::Index place_in(const std::vector<int>& agents, int agent) {
    return std::ranges::find(agents, agent) - agents.begin();
}

/// Column of a message for this receiver.
inline Eigen::Index column_for(const std::vector<int>& outputs, int receiver) {
    return outputs == std::vector<int>{NoiseRow::all_receivers} ? 0 : place_in(outputs, receiver);
}

/// What is wrong with the records of one agent by themselves.
inline std::string wrong_records(const RecordedView& view, const RecordedRun& made) {
    const ViewHeader& header = view.header;
    const int a = header.agent;
    const MixingSchedule schedule = made.topography.schedule();
    const bool on_gradients = made.plan.entry == NoiseEntry::gradient;
    const auto all = [&](bool good) { return good ? 0 : 1; };
    for (std::size_t i = 0; i < view.records.size(); ++i) {
        const RecordedRound& record = view.records[i];
        const auto at = [&](const std::string& what) {
            return fmt::format("agent {}, round {}, gossip step {}: {}",
                               a,
                               record.round,
                               record.gossip_step,
                               what);
        };
        const auto steps = static_cast<std::size_t>(header.gossip_steps);
        if (record.round != static_cast<long>(i / steps) ||
            record.gossip_step != static_cast<int>(i % steps))
            return at("out of order");
        if (record.step_size != made.run.step_size) return at("step size");
        const MixingMatrix& mixing = schedule.at(record.round);
        const auto row = mixing.weights(a);
        if (!std::ranges::equal(record.mixing_row, row)) return at("mixing row");
        // The message is made of model, gradient and noise, or is the model.
        const Eigen::VectorXd stepped = record.before - record.step_size * record.gradient;
        int wrong = 0;
        for (Eigen::Index o = 0; o < record.message.cols(); ++o) {
            const auto message = record.message.col(o);
            const auto noise = record.noise.col(o);
            if (record.gossip_step > 0)
                wrong +=
                    all(message == record.before && record.gradient.isZero(0) && noise.isZero(0));
            else if (on_gradients)
                wrong +=
                    all(message == record.before - record.step_size * (record.gradient + noise));
            else
                wrong +=
                    all((message - noise - stepped).cwiseAbs().maxCoeff() <= made.plan.grid_step());
        }
        if (wrong > 0) return at("message");
        if (record.gossip_step == 0 &&
            (record.gradient.isZero(0) ||
             (record.noise.isZero(0) && header.received != Received::mean)))
            return at("no gradient or no noise");
        // What it mixes is its next model.
        Eigen::VectorXd next(header.dimension);
        if (header.received == Received::mean) {
            next = record.received.col(0);
        } else {
            const auto own = record.message.col(column_for(header.outputs, a));
            next = mixing.weight(a, a) * own;
            if (header.received == Received::sum)
                next += record.received.col(0);
            else
                for (std::size_t j = 0; j < header.neighbours.size(); ++j)
                    next += mixing.weight(a, header.neighbours[j]) *
                            record.received.col(static_cast<Eigen::Index>(j));
        }
        if (i + 1 == view.records.size()) continue;
        const double error = (next - view.records[i + 1].before).cwiseAbs().maxCoeff();
        if (!(error <= 1e-13 * (1 + next.cwiseAbs().maxCoeff())))
            return at(fmt::format("the next model is {} from what was mixed", error));
    }
    return {};
}

/// What is wrong with what agent a received, compared with the wire and the views of its
/// neighbours.
inline std::string wrong_received(int a,
                                  const std::filesystem::path& folder,
                                  const RecordedRun& made) {
    const RecordedView own = read_recorded_view(view_file(folder, a));
    const MixingSchedule schedule = made.topography.schedule();
    const auto dimension = static_cast<std::size_t>(own.header.dimension);
    std::vector<std::vector<std::uint64_t>> sums(own.records.size(),
                                                 std::vector<std::uint64_t>(dimension, 0));
    for (std::size_t j = 0; j < own.header.neighbours.size(); ++j) {
        const int v = own.header.neighbours[j];
        const RecordedView theirs = read_recorded_view(view_file(folder, v));
        WireHeader header;
        const auto wire = read_wire(wire_file(folder, v), header);
        if (wire.size() != own.records.size() || theirs.records.size() != wire.size())
            return fmt::format("agents {} and {} have recordings of other lengths", a, v);
        for (std::size_t i = 0; i < wire.size(); ++i) {
            const RecordedRound& record = own.records[i];
            const auto wrong = [&](const std::string& what) {
                return fmt::format("from {} to {}, round {}, gossip step {}: {}",
                                   v,
                                   a,
                                   record.round,
                                   record.gossip_step,
                                   what);
            };
            if (wire[i].round != record.round || wire[i].gossip_step != record.gossip_step ||
                wire[i].step_size != record.step_size)
                return wrong("other places");
            const MixingMatrix& mixing = schedule.at(record.round);
            const auto message =
                theirs.records[i].message.col(column_for(theirs.header.outputs, a));
            if (header.content == WireContent::messages) {
                const auto sent = wire[i].messages.col(column_for(header.outputs, a));
                const auto received = record.received.col(static_cast<Eigen::Index>(j));
                const bool joined = schedule.fixed() || mixing.weight(a, v) > 0;
                if (joined && !(sent == received && sent == message)) return wrong("message");
                if (!joined && !received.isZero(0)) return wrong("it heard a resting edge");
                const bool heard = std::ranges::any_of(header.neighbours, [&](int other) {
                    return schedule.fixed() || mixing.weight(other, v) > 0;
                });
                if (!heard && !sent.isZero(0)) return wrong("sent to nobody, and on the wire");
                continue;
            }
            const auto share = wire[i].shares.col(place_in(header.neighbours, a));
            std::size_t plain = 0;
            for (std::size_t k = 0; k < dimension; ++k) {
                const auto c = static_cast<Eigen::Index>(k);
                sums[i][k] += share(c);
                plain += share(c) == static_cast<std::uint64_t>(std::llrint(
                                         std::ldexp(mixing.weight(a, v) * message(c), 40)))
                             ? 1
                             : 0;
            }
            if (plain != (own.header.neighbours.size() == 1 ? dimension : 0))
                return wrong(fmt::format("{} of {} words without a mask", plain, dimension));
        }
    }
    if (own.header.received != Received::sum || own.header.neighbours.empty()) return {};
    for (std::size_t i = 0; i < sums.size(); ++i) {
        Eigen::VectorXd decoded(own.header.dimension);
        SecureSum::decode(sums[i], {decoded.data(), dimension});
        if (!(decoded == own.records[i].received.col(0)))
            return fmt::format("record {} of agent {}: not the sum of the shares", i, a);
    }
    return {};
}

/// All of the above for the agents named, when the files of all agents are there.
inline std::string wrong_recordings(std::span<const int> agents,
                                    const std::filesystem::path& folder,
                                    const RecordedRun& made) {
    for (const int a : agents) {
        const RecordedView view = read_recorded_view(view_file(folder, a));
        const auto exchanges = static_cast<std::size_t>(made.run.rounds) *
                               static_cast<std::size_t>(view.header.gossip_steps);
        if (view.records.size() != exchanges) return fmt::format("{} records", view.records.size());
        const std::string alone = wrong_records(view, made);
        if (!alone.empty()) return alone;
        if (view.header.received == Received::mean) continue;
        const std::string received = wrong_received(a, folder, made);
        if (!received.empty()) return received;
    }
    return {};
}

}  // namespace sotto::test
