#include "audit/known_models.hpp"

#include <fmt/format.h>

#include <map>

#include "audit/audit_subject.hpp"
#include "sotto/agent/recording/recorded_view.hpp"
#include "sotto/agent/recording/recorded_wire.hpp"
#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"

namespace sotto {

namespace {

namespace fs = std::filesystem;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A mean that is added up.
struct Mean {
    VectorXd sum;
    long count = 0;

    void add(const Eigen::Ref<const VectorXd>& value) {
        if (count++ == 0)
            sum = value;
        else
            sum += value;
    }
};

/// Means of the messages that the view saw, and of its members' own models.
struct SeenModels {
    std::map<int, Mean> heard;
    Mean own;
};

void require_recording_of(const RecordingHeader& header,
                          std::uint64_t records,
                          const NoisePlan& plan,
                          long rounds,
                          const fs::path& file) {
    const auto expected =
        static_cast<std::uint64_t>(rounds) * static_cast<std::uint64_t>(header.gossip_steps);
    if (header.plan_hash != to_hex(plan.hash()) || records != expected)
        throw DataError(fmt::format("{}: not a recording of this run", file.string()));
}

/// The position of a neighbour's weight in the mixing row of a closed neighbourhood.
Index weight_of(const RecordingHeader& header, std::size_t neighbour) {
    return static_cast<Index>(neighbour) + (header.neighbours[neighbour] > header.agent ? 1 : 0);
}

void add_member(
    SeenModels& seen, const fs::path& file, const NoisePlan& plan, long rounds, long first) {
    RecordedViewReader reader(file);
    const ViewHeader& header = reader.header();
    require_recording_of(header, reader.records(), plan, rounds, file);
    for (RecordedRound record; reader.next(record);) {
        if (record.round < first || record.gossip_step > 0) continue;
        seen.own.add(record.before);
        if (header.received != Received::messages) continue;
        for (std::size_t j = 0; j < header.neighbours.size(); ++j)
            if (record.mixing_row(weight_of(header, j)) != 0)
                seen.heard[header.neighbours[j]].add(record.received.col(static_cast<Index>(j)));
    }
}

void add_sender(Mean& mean, const fs::path& file, const NoisePlan& plan, long rounds, long first) {
    WireReader reader(file);
    require_recording_of(reader.header(), reader.records(), plan, rounds, file);
    for (WireRecord record; reader.next(record);)
        if (record.round >= first && record.gossip_step == 0 && record.messages.cols() > 0)
            mean.add(record.messages.col(0));
}

}  // namespace

KnownModels read_known_models(
    const fs::path& views, const View& view, const NoisePlan& plan, long rounds, long first) {
    SeenModels seen;
    for (const int member : view.members)
        add_member(seen, views / std::to_string(member) / "view.bin", plan, rounds, first);
    if (view.kind == View::Kind::all_messages)
        for (const int sender : agents_outside(view, plan.agents))
            add_sender(seen.heard[sender],
                       views / "wire" / std::to_string(sender) / "messages.bin",
                       plan,
                       rounds,
                       first);
    KnownModels known;
    for (int u = 0; u < plan.agents; ++u) {
        const auto of_agent = seen.heard.find(u);
        const bool heard = of_agent != seen.heard.end() && of_agent->second.count > 0;
        const Mean& mean = heard ? of_agent->second : seen.own;
        if (mean.count == 0)
            throw ConfigError(fmt::format("view: it shows no message of agent {}", u));
        if (u == 0) known.models.resize(mean.sum.size(), plan.agents);
        known.models.col(u) = mean.sum / static_cast<double>(mean.count);
        known.heard.push_back(heard);
    }
    return known;
}

MatrixXd share_models(const MatrixXd& models, Eigen::Index dimension, Network& network) {
    ByteWriter writer;
    for (const double value : models.reshaped()) writer.put(value);
    const std::string bytes =
        network.broadcast(writer.take(),
                          sizeof(double) * static_cast<std::uint64_t>(dimension) *
                              static_cast<std::uint64_t>(network.agents()));
    const int agents = network.agents();
    MatrixXd result(static_cast<Index>(bytes.size() / sizeof(double)) / agents, agents);
    network.agree([&] {
        ByteReader reader(bytes, "the models of rank 0");
        for (double& value : result.reshaped()) value = reader.get<double>();
        reader.require_done();
    });
    return result;
}

}  // namespace sotto
