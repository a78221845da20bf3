#include "audit/recorded_messages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "agent/recording/recorded_wire.hpp"
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

}  // namespace

RecordedMessages::RecordedMessages(const fs::path& folder,
                                   const View& view,
                                   const MessageProcess& process,
                                   int threads,
                                   WireContent content)
    : process_(process), view_(view), content_(content), knowledge_(*process.plan) {
    for (const int agent : view_.members)
        if (content_ == WireContent::steps)
            take_seeds(folder / std::to_string(agent) / "seeds.json", agent);
        else
            open_member(folder, agent);
    if (view_.kind == View::Kind::all_messages)
        for (int agent = 0; agent < knowledge_.agents; ++agent)
            if (!view_.has_member(agent)) open_sender(folder, agent);
    if (!seeds_.empty()) set_known_noise(threads);
}

void RecordedMessages::set_known_noise(int threads) {
    std::vector<KeyRing> rings;
    for (int agent = 0; agent < knowledge_.agents; ++agent) {
        if (view_.has_member(agent)) continue;
        KeyRing& ring = rings.emplace_back(agent);
        for (const auto& [group, seed] : seeds_)
            if (std::ranges::binary_search(
                    knowledge_.groups[static_cast<std::size_t>(group)].members, agent))
                ring.add(group, seed.clone());
    }
    const NoisePlan known = with_streams(knowledge_, [this](int stream) {
        return seeds_.contains(knowledge_.streams[static_cast<std::size_t>(stream)].group);
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
    expect("gossip steps", header.gossip_steps, exchanges());
    expect("records",
           records,
           static_cast<std::uint64_t>(process_.rounds()) * static_cast<std::uint64_t>(exchanges()));
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
            "view: agent {} learnt {} in this run; use {}",
            agent,
            wanted == Received::sum ? "every neighbour's message" : "sums of messages only",
            wanted == Received::sum ? "node or coalition" : "secure-sum"));
    members_.emplace(agent, std::move(member));
    take_seeds(own / "seeds.json", agent);
}

void RecordedMessages::take_seeds(const fs::path& keys, int agent) {
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
    const WireContent content = sender.reader.header().content;
    if (content == WireContent::shares)
        throw ConfigError(
            "view: with secure sums there are masked shares on the wire, and no view sees all "
            "messages; use secure-sum");
    if (content != content_)
        throw DataError(fmt::format(
            "{}: it holds {} of messages, which the run's options do not say: not a recording of "
            "this run",
            file.string(),
            content == WireContent::steps ? "steps" : "values"));
    senders_.emplace(agent, std::move(sender));
}

bool RecordedMessages::next() {
    bool more = time_ + 1 < process_.rounds() * exchanges();
    for (auto& [agent, member] : members_) more = more && member.reader.next(member.record);
    for (auto& [agent, sender] : senders_) more = more && sender.reader.next(sender.record);
    if (!more) return false;
    ++time_;
    const long round = time_ / exchanges();
    if (known_source_ && time_ % exchanges() == 0)
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

Eigen::MatrixXd RecordedMessages::unknown_noise() const {
    const NoisePlan unknown = with_streams(knowledge_, [this](int stream) {
        return !seeds_.contains(knowledge_.streams[static_cast<std::size_t>(stream)].group);
    });
    return knowledge_.scale * unknown.coefficient_matrix();
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

std::vector<std::string> RecordedMessages::leak_findings() const {
    std::vector<std::string> findings;
    for (const auto& [agent, group] : leaked_)
        findings.push_back(fmt::format(
            "agent {} holds the seed of group {}, whose members are {}",
            agent,
            group,
            fmt::join(process_.plan->groups[static_cast<std::size_t>(group)].members, ", ")));
    return findings;
}

namespace {

MessageProcess with_plan(MessageProcess process, const NoisePlan& plan) {
    process.plan = &plan;
    return process;
}

Eigen::Index checked(const RecordedMessages& messages,
                     Eigen::Index dimension,
                     const std::filesystem::path& views,
                     const std::string& reason) {
    if (messages.dimension() != dimension)
        throw DataError(fmt::format("{}: models of {} coordinates are recorded, {}",
                                    views.string(),
                                    messages.dimension(),
                                    reason));
    return dimension;
}

Eigen::VectorXd first_model(const Eigen::VectorXd& known, Eigen::Index dimension) {
    return known.size() > 0 ? known : Eigen::VectorXd::Zero(dimension);
}

}  // namespace

RecordedInnovations::RecordedInnovations(const std::filesystem::path& views,
                                         const View& view,
                                         const MessageProcess& process,
                                         Eigen::Index dimension,
                                         const std::string& reason,
                                         int threads,
                                         KnownInputs known)
    : messages_(views, view, process, threads),
      seen_(with_plan(process, messages_.knowledge())),
      known_(std::move(known)),
      test_(
          seen_, view, first_model(known_.initial, checked(messages_, dimension, views, reason))) {}

std::optional<ViewInnovations::Innovation> RecordedInnovations::next() {
    if (!messages_.next()) return std::nullopt;
    const long round = time_++ / seen_.exchanges();
    SeenStep step = messages_.step();
    if (!known_.contribution) return test_.next(step);
    // A contribution enters a message as noise on gradients does.
    const double unit = messages_.knowledge().entry == NoiseEntry::gradient
                            ? 1
                            : -seen_.step_sizes[static_cast<std::size_t>(round)];
    step.known_noise = [this, unit, round, noise = step.known_noise](int sender, int receiver) {
        Eigen::VectorXd known = unit * known_.contribution(sender, round);
        if (const Eigen::VectorXd drawn = noise(sender, receiver); drawn.size() > 0) known += drawn;
        return known;
    };
    return test_.next(step);
}

namespace fs = std::filesystem;

namespace {

constexpr Eigen::Index compared = 256;       // coordinates
constexpr std::uint64_t small = 1ULL << 56;  // of 2^64: chance of one in 2^7
constexpr long most_small = 32;              // of 256, where 2 are expected

/// Words for one receiver, coordinates x exchanges.
WireRecord::Words shares_for(WireReader& reader, Eigen::Index neighbour) {
    const Eigen::Index rows = std::min(compared, reader.header().dimension);
    WireRecord::Words words(rows, static_cast<Eigen::Index>(reader.records()));
    WireRecord record;
    for (Eigen::Index time = 0; reader.next(record); ++time)
        words.col(time) = record.shares.col(neighbour).head(rows);
    return words;
}

bool nearly_equal(std::uint64_t a, std::uint64_t b) { return std::min(a - b, b - a) < small; }

}  // namespace

MaskCheck check_masks(const fs::path& folder, const View& view, const Graph& graph) {
    MaskCheck result;
    for (const int receiver : view.members) {
        const auto heard = graph.heard(receiver);
        if (heard.size() < 2) continue;  // the sum is the only neighbour's message
        for (const int sender : heard) {
            const fs::path file = folder / "wire" / std::to_string(sender) / "messages.bin";
            if (!fs::exists(file)) continue;
            WireReader reader(file);
            if (reader.header().content != WireContent::shares) continue;
            const auto& receivers = reader.header().neighbours;
            const auto place = std::ranges::lower_bound(receivers, receiver) - receivers.begin();
            const WireRecord::Words words = shares_for(reader, place);
            bool found = false;
            for (Eigen::Index s = 0; s < words.cols() && !found; ++s)
                for (Eigen::Index t = s + 1; t < words.cols() && !found; ++t) {
                    ++result.pairs;
                    long near = 0;
                    for (Eigen::Index i = 0; i < words.rows(); ++i)
                        if (nearly_equal(words(i, s), words(i, t))) ++near;
                    if (near <= std::min<long>(most_small, words.rows() / 2)) continue;
                    found = true;
                    result.findings.push_back(fmt::format(
                        "the masks of agent {} for agent {} are the same in exchanges {} and {}: "
                        "agent {} can subtract the two shares and sees the difference of two "
                        "messages",
                        sender,
                        receiver,
                        s,
                        t,
                        receiver));
                }
        }
    }
    return result;
}

}  // namespace sotto
