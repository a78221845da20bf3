#include "audit/recorded_messages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/agent/recording/recorded_seeds.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

Eigen::Index column_of(const std::vector<int>& list, int agent, const char* what, int of) {
    const auto found = std::ranges::lower_bound(list, agent);
    if (found == list.end() || *found != agent)
        throw Error(ExitCode::other,
                    fmt::format("the recording of agent {} holds no {} {}", of, what, agent));
    return found - list.begin();
}

Eigen::VectorXd own_message(const Eigen::MatrixXd& columns,
                            const std::vector<int>& outputs,
                            int sender,
                            int receiver) {
    if (outputs.front() == NoiseRow::all_receivers) return columns.col(0);
    return columns.col(column_of(outputs, receiver, "message for", sender));
}

/// The terms of a row whose stream is wanted.
template <class Wanted>
NoiseRow part_of(const NoiseRow& row, Wanted wanted) {
    NoiseRow kept{row.sender, row.receiver, {}, {}};
    for (std::size_t j = 0; j < row.streams.size(); ++j) {
        if (!wanted(row.streams[j])) continue;
        kept.streams.push_back(row.streams[j]);
        kept.coefficients.push_back(row.coefficients[j]);
    }
    return kept;
}

}  // namespace

RecordedMessages::RecordedMessages(const fs::path& folder,
                                   const View& view,
                                   const MessageProcess& process,
                                   int threads)
    : process_(process), view_(view), knowledge_(*process.plan) {
    for (const int agent : view_.members) open_member(folder, agent);
    if (view_.kind == View::Kind::all_messages)
        for (int agent = 0; agent < knowledge_.agents; ++agent)
            if (!members_.contains(agent)) open_sender(folder, agent);
    if (!seeds_.empty()) set_known_noise(threads);
}

void RecordedMessages::set_known_noise(int threads) {
    std::vector<KeyRing> rings;
    for (int agent = 0; agent < knowledge_.agents; ++agent) {
        if (members_.contains(agent)) continue;
        KeyRing& ring = rings.emplace_back(agent);
        for (const auto& [group, seed] : seeds_)
            if (std::ranges::binary_search(
                    knowledge_.groups[static_cast<std::size_t>(group)].members, agent))
                ring.add(group, seed.clone());
    }
    NoisePlan known = knowledge_;
    for (NoiseRow& row : known.rows)
        row = part_of(row, [&](int stream) {
            return seeds_.contains(known.streams[static_cast<std::size_t>(stream)].group);
        });
    known_source_.emplace(known, rings, threads);
    const auto outputs = known_source_->outputs();
    for (std::size_t o = 0; o < outputs.size(); ++o)
        known_columns_[{rings[outputs[o].local_index].agent(), outputs[o].receiver}] =
            static_cast<Eigen::Index>(o);
    known_noise_ = Eigen::MatrixXd::Zero(dimension_, static_cast<Eigen::Index>(outputs.size()));
}

void RecordedMessages::check(const RecordingHeader& header,
                             std::uint64_t records,
                             int agent,
                             const std::string& file) {
    const auto expect = [&](const char* what, auto found, auto wanted) {
        if (found != wanted)
            throw DataError(fmt::format("{}: {} {}, the run has {}: not a recording of this run",
                                        file,
                                        what,
                                        found,
                                        wanted));
    };
    expect("agent", header.agent, agent);
    expect("agents", header.agents, knowledge_.agents);
    expect("plan", header.plan_hash, to_hex(process_.plan->hash()));
    expect("gossip steps", header.gossip_steps, process_.gossip.steps());
    expect("records",
           records,
           static_cast<std::uint64_t>(process_.rounds()) *
               static_cast<std::uint64_t>(process_.gossip.steps()));
    if (dimension_ < 0) dimension_ = header.dimension;
    expect("dimension", header.dimension, dimension_);
    if (!epoch_) epoch_ = header.key_epoch;
    expect("key epoch", header.key_epoch, *epoch_);
    const auto neighbours = process_.graph->neighbours(agent);
    if (!std::ranges::equal(header.neighbours, neighbours))
        throw DataError(
            fmt::format("{}: agent {} has other neighbours than in the run's graph", file, agent));
}

void RecordedMessages::open_member(const fs::path& folder, int agent) {
    const fs::path own = folder / std::to_string(agent);
    const fs::path file = own / "view.bin";
    if (!fs::exists(file))
        throw DataError(fmt::format(
            "{}: there is no such file; agent {} did not record its view (--record-view), or wrote "
            "it on another machine: bring the members' folders together",
            file.string(),
            agent));
    Member member{RecordedViewReader(file), {}};
    const ViewHeader& header = member.reader.header();
    check(header, member.reader.records(), agent, file.string());
    const Received wanted =
        view_.kind == View::Kind::secure_sum ? Received::sum : Received::messages;
    if (view_.kind != View::Kind::all_messages && header.received != wanted)
        throw ConfigError(fmt::format(
            "view: agent {} learnt {} in this run; ask {}",
            agent,
            wanted == Received::sum ? "every neighbour's message" : "sums of messages only",
            wanted == Received::sum ? "node or coalition" : "secure-sum"));
    members_.emplace(agent, std::move(member));

    const fs::path keys = own / "seeds.json";
    if (!fs::exists(keys)) throw DataError(fmt::format("{}: there is no such file", keys.string()));
    const KeyRing ring = read_recorded_seeds(keys, *process_.plan);
    for (const int group : ring.groups()) {
        seeds_.try_emplace(group, ring.seed(group).clone());
        auto& holders = knowledge_.groups[static_cast<std::size_t>(group)].members;
        const auto place = std::ranges::lower_bound(holders, agent);
        if (place != holders.end() && *place == agent) continue;
        leaked_.emplace_back(agent, group);
        holders.insert(place, agent);
    }
}

void RecordedMessages::open_sender(const fs::path& folder, int agent) {
    const fs::path file = folder / "wire" / std::to_string(agent) / "messages.bin";
    if (!fs::exists(file))
        throw DataError(fmt::format(
            "{}: there is no such file; the messages of agent {} were not recorded (--record-view "
            "eavesdropper), or on another machine: bring the folders together",
            file.string(),
            agent));
    Sender sender{WireReader(file), {}};
    check(sender.reader.header(), sender.reader.records(), agent, file.string());
    if (sender.reader.header().content != WireContent::messages)
        throw ConfigError(
            "view: with secure sums there are masked shares on the wire, and no view sees all "
            "messages; ask secure-sum");
    senders_.emplace(agent, std::move(sender));
}

bool RecordedMessages::next() {
    bool more = time_ + 1 < process_.rounds() * process_.gossip.steps();
    for (auto& [agent, member] : members_) more = more && member.reader.next(member.record);
    for (auto& [agent, sender] : senders_) more = more && sender.reader.next(sender.record);
    if (!more) return false;
    ++time_;
    const long round = time_ / process_.gossip.steps();
    if (known_source_ && time_ % process_.gossip.steps() == 0)
        known_source_->draw(epoch_.value_or(0), static_cast<std::uint64_t>(round), known_noise_);
    return true;
}

Eigen::VectorXd RecordedMessages::message(int sender, int receiver) const {
    if (const auto own = members_.find(sender); own != members_.end())
        return own_message(
            own->second.record.message, own->second.reader.header().outputs, sender, receiver);
    if (const auto wire = senders_.find(sender); wire != senders_.end())
        return own_message(
            wire->second.record.messages, wire->second.reader.header().outputs, sender, receiver);
    const Member& heard = members_.at(receiver);
    return heard.record.received.col(
        column_of(heard.reader.header().neighbours, sender, "message of", receiver));
}

SeenStep RecordedMessages::step() const {
    SeenStep step;
    step.message = [this](int sender, int receiver) { return message(sender, receiver); };
    step.sum = [this](int member) {
        return Eigen::VectorXd(members_.at(member).record.received.col(0));
    };
    step.known_noise = [this](int sender, int receiver) {
        for (const int to : {NoiseRow::all_receivers, receiver})
            if (const auto column = known_columns_.find({sender, to});
                column != known_columns_.end())
                return Eigen::VectorXd(known_noise_.col(column->second));
        return Eigen::VectorXd();
    };
    return step;
}

}  // namespace sotto
