#include "agent/bootstrap/seed_distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/bytes.hpp"
#include "core/parallel.hpp"
#include "sotto/core/error.hpp"
#include "trust/seed_agreement.hpp"

namespace sotto {

namespace {

std::vector<LocalSeed> draw_own_seeds(const NoisePlan& plan,
                                      const Session& session,
                                      std::span<const int> local_agents,
                                      std::span<const int> groups) {
    std::vector<LocalSeed> seeds;
    for (const int group : groups) {
        const int owner = plan.groups[static_cast<std::size_t>(group)].members.front();
        if (const auto place = place_of(local_agents, owner))
            seeds.push_back(
                {*place, group, group_seed(SecretKey::random(), session.transcript, group)});
    }
    return seeds;
}

void add(std::vector<KeyRing>& rings, std::vector<LocalSeed> seeds) {
    for (LocalSeed& entry : seeds) rings[entry.place].add(entry.group, std::move(entry.seed));
}

}  // namespace

std::vector<KeyRing> distribute_seeds(Control& network,
                                      const NoisePlan& plan,
                                      Session& session,
                                      int threads) {
    const std::span<const int> local_agents = network.local_agents();
    std::vector<KeyRing> rings(local_agents.begin(), local_agents.end());
    std::map<SeedMaker, std::vector<int>> groups;
    for (std::size_t g = 0; g < plan.groups.size(); ++g)
        groups[maker_of(plan.groups[g], plan.agents)].push_back(static_cast<int>(g));
    network.agree([&] {
        add(rings, draw_own_seeds(plan, session, local_agents, groups[SeedMaker::owner]));
        add(rings,
            derive_pair_seeds(plan, session, local_agents, groups[SeedMaker::pair], threads));
    });
    // The plan is the same on every process, and so are the collective calls that follow from it.
    if (const auto& dealt = groups[SeedMaker::lowest_member]; !dealt.empty())
        add(rings, deal_seeds(network, plan, session, dealt));
    if (const auto& joint = groups[SeedMaker::everybody]; !joint.empty())
        add(rings, draw_joint_seeds(network, session, joint));
    return rings;
}

std::vector<KeyRing> distribute_seeds(const Control& network,
                                      const NoisePlan& plan,
                                      std::uint64_t noise_seed) {
    return reproducible_rings(plan, network.local_agents(), noise_seed);
}

std::optional<std::size_t> place_of(std::span<const int> local_agents, int agent) {
    const auto found = std::ranges::lower_bound(local_agents, agent);
    if (found == local_agents.end() || *found != agent) return std::nullopt;
    return static_cast<std::size_t>(found - local_agents.begin());
}

namespace {

/// Groups whose seeds go from the first agent to the second, in different processes.
using Parcels = std::map<std::pair<int, int>, std::vector<int>>;

class Dealing {
  public:
    Dealing(const NoisePlan& plan, Session& session, std::span<const int> local_agents)
        : plan_(plan), session_(session), local_agents_(local_agents) {}

    /// Draws the seeds that local agents deal. @return those for others, sealed.
    std::string deal(std::span<const int> groups);
    void take(std::string_view dealt);
    /// Seeds of the local agents, once all have dealt. @throws CryptoError if one is missing.
    std::vector<LocalSeed> finish();

  private:
    void add(std::size_t place, int group, const SecretKey& drawn) {
        seeds_.push_back({place, group, group_seed(drawn, session_.transcript, group)});
    }
    void open_parcel(int dealer, int member, std::string_view sealed);

    const NoisePlan& plan_;
    Session& session_;
    std::span<const int> local_agents_;
    Parcels expected_;
    std::vector<LocalSeed> seeds_;
};

std::string Dealing::deal(std::span<const int> groups) {
    Parcels outgoing;
    std::map<int, SecretKey> drawn;
    for (const int group : groups) {
        const auto& members = plan_.groups[static_cast<std::size_t>(group)].members;
        const int dealer = members.front();
        const auto dealer_place = place_of(local_agents_, dealer);
        if (dealer_place) drawn.emplace(group, SecretKey::random());
        for (const int member : members) {
            const auto member_place = place_of(local_agents_, member);
            if (dealer_place && member_place)
                add(*member_place, group, drawn.at(group));
            else if (dealer_place)
                outgoing[{dealer, member}].push_back(group);
            else if (member_place)
                expected_[{dealer, member}].push_back(group);
        }
    }
    ByteWriter writer;
    for (const auto& [ends, of_groups] : outgoing) {
        const auto [dealer, member] = ends;
        const SecretKey& secret = session_.secrets[*place_of(local_agents_, dealer)].with(member);
        writer.put(std::int32_t{dealer});
        writer.put(std::int32_t{member});
        writer.put_text(seal_seeds(secret, dealer, member, of_groups, drawn));
    }
    return writer.take();
}

void Dealing::take(std::string_view dealt) {
    ByteReader reader(dealt, "its end");
    while (!reader.done()) {
        const auto dealer = reader.get<std::int32_t>();
        const auto member = reader.get<std::int32_t>();
        open_parcel(dealer, member, reader.get_text());
    }
}

void Dealing::open_parcel(int dealer, int member, std::string_view sealed) {
    const auto place = place_of(local_agents_, member);
    if (!place) return;  // for another process
    const auto wanted = expected_.find({dealer, member});
    if (wanted == expected_.end())
        throw CryptoError(fmt::format(
            "agent {} has seeds of agent {} that the plan does not give it, or gave it already",
            member,
            dealer));
    const std::vector<int>& groups = wanted->second;
    const auto drawn =
        open_seeds(session_.secrets[*place].with(dealer), dealer, member, groups, sealed);
    for (std::size_t i = 0; i < drawn.size(); ++i) add(*place, groups[i], drawn[i]);
    expected_.erase(wanted);
}

std::vector<LocalSeed> Dealing::finish() {
    if (!expected_.empty()) {
        const auto& [ends, groups] = *expected_.begin();
        throw CryptoError(fmt::format("agent {} did not send agent {} the seed of group {}",
                                      ends.first,
                                      ends.second,
                                      groups.front()));
    }
    return std::move(seeds_);
}

/// Upper bound for a process that deals all of these groups, each member's seeds separately.
std::uint64_t largest_deal_bytes(const NoisePlan& plan, std::span<const int> groups) {
    constexpr std::uint64_t parcel_bytes = 256;  // ends, length, nonce, group, seed, tag
    std::uint64_t members = 0;
    for (const int group : groups)
        members += plan.groups[static_cast<std::size_t>(group)].members.size();
    return parcel_bytes * members;
}

}  // namespace

std::vector<LocalSeed> deal_seeds(Control& network,
                                  const NoisePlan& plan,
                                  Session& session,
                                  std::span<const int> groups) {
    Dealing dealing(plan, session, network.local_agents());
    std::string own;
    network.agree([&] { own = dealing.deal(groups); });
    const auto dealt = network.all_gather(own, largest_deal_bytes(plan, groups));
    std::vector<LocalSeed> seeds;
    network.agree([&] {
        for (std::size_t p = 0; p < dealt.size(); ++p)
            if (static_cast<int>(p) != network.process())
                take_from(p, [&] { dealing.take(dealt[p]); });
        seeds = dealing.finish();
    });
    return seeds;
}

namespace {

class Shares {
  public:
    explicit Shares(const Session& session)
        : bytes_(session.announcements.size() * SecretKey::size) {
        for (const Announcement& agent : session.announcements)
            commitments_.push_back(agent.share_commitment);
        given_.resize(commitments_.size());
    }
    void put(int agent, std::span<const std::uint8_t> share) {
        bool& given = given_.at(static_cast<std::size_t>(agent));
        if (std::exchange(given, true))
            throw CryptoError(fmt::format("the share of agent {} came twice", agent));
        if (share.size() != SecretKey::size)
            throw CryptoError(fmt::format("the share of agent {} has {} bytes; it must have {}",
                                          agent,
                                          share.size(),
                                          SecretKey::size));
        std::ranges::copy(
            share, bytes_.span().begin() + static_cast<std::ptrdiff_t>(agent) * SecretKey::size);
    }
    /// @throws CryptoError unless all match their commitments.
    void put_all(std::span<const std::uint8_t> shares) {
        check_shares(shares, commitments_);
        std::ranges::copy(shares, bytes_.span().begin());
    }
    void check() const { check_shares(bytes(), commitments_); }
    [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_.span(); }

  private:
    SecretBytes bytes_;
    std::vector<Digest> commitments_;
    std::deque<bool> given_;
};

/// Shares of the local agents for agent 0; in its own process only their numbers.
std::string shares_for_agent_0(Session& session, std::span<const int> local_agents, bool leader) {
    ByteWriter writer;
    for (std::size_t a = 0; a < local_agents.size(); ++a) {
        writer.put(std::int32_t{local_agents[a]});
        writer.put_text(leader ? std::string()
                               : seal(session.secrets[a].with(0),
                                      SealPurpose::share,
                                      local_agents[a],
                                      0,
                                      session.shares[a].bytes()));
    }
    return writer.take();
}

std::uint64_t largest_shares_bytes(std::uint64_t agents) {
    constexpr std::uint64_t sealed_share_bytes = 128;  // number, length, nonce, share, tag
    return sealed_share_bytes * (agents + 1);
}

/// Opens the shares of another process. @return one of its agents; -1 if it has none.
int take_shares(std::string_view sent, PairSecrets& secrets, Shares& shares) {
    int recipient = -1;
    ByteReader reader(sent, "its end");
    while (!reader.done()) {
        const auto agent = reader.get<std::int32_t>();
        const std::string_view sealed = reader.get_text();
        shares.put(agent,
                   open_sealed(secrets.with(agent), SealPurpose::share, agent, 0, sealed).span());
        if (recipient < 0) recipient = agent;
    }
    return recipient;
}

/// On process 0: seals all shares for one agent of every other process.
std::vector<std::string> parcels_of_all(Session& session,
                                        std::span<const int> local_agents,
                                        std::span<const std::string> sent,
                                        Shares& shares) {
    for (std::size_t a = 0; a < local_agents.size(); ++a)
        shares.put(local_agents[a], session.shares[a].bytes());
    PairSecrets& secrets = session.secrets.front();
    std::vector<int> recipients(sent.size(), -1);
    for (std::size_t p = 1; p < sent.size(); ++p)
        take_from(p, [&] { recipients[p] = take_shares(sent[p], secrets, shares); });
    shares.check();
    std::vector<std::string> parcels(sent.size());
    for (std::size_t p = 1; p < sent.size(); ++p)
        if (recipients[p] >= 0)
            parcels[p] = seal(secrets.with(recipients[p]),
                              SealPurpose::all_shares,
                              0,
                              recipients[p],
                              shares.bytes());
    return parcels;
}

}  // namespace

std::vector<LocalSeed> draw_joint_seeds(Control& network,
                                        Session& session,
                                        std::span<const int> groups) {
    const bool leader = network.process() == 0;
    const std::span<const int> local_agents = network.local_agents();
    std::string own;
    network.agree([&] { own = shares_for_agent_0(session, local_agents, leader); });
    const auto sent =
        network.all_gather(own, largest_shares_bytes(network.most_agents_of_a_process()));
    Shares shares(session);
    std::vector<std::string> parcels(sent.size());
    network.agree([&] {
        if (leader) parcels = parcels_of_all(session, local_agents, sent, shares);
    });
    const std::string parcel = network.scatter(
        parcels, largest_shares_bytes(static_cast<std::uint64_t>(network.agents())));
    std::vector<LocalSeed> seeds;
    network.agree([&] {
        if (!leader)
            shares.put_all(open_sealed(session.secrets.front().with(0),
                                       SealPurpose::all_shares,
                                       0,
                                       local_agents.front(),
                                       parcel)
                               .span());
        const SecretKey drawn = drawn_by_everybody(shares.bytes());
        for (const int group : groups)
            for (std::size_t a = 0; a < local_agents.size(); ++a)
                seeds.push_back({a, group, group_seed(drawn, session.transcript, group)});
    });
    return seeds;
}

namespace {

/// A seed that a local agent computes, also for the other end if that is local.
struct Task {
    int group, peer;
    std::optional<std::size_t> peer_place;
    std::optional<SecretKey> seed;
};

/// The tasks of each local agent. Between two local agents they alternate, so that threads, which
/// take whole agents, have equal shares.
std::vector<std::vector<Task>> tasks_of(const NoisePlan& plan,
                                        std::span<const int> local_agents,
                                        std::span<const int> groups) {
    std::vector<std::vector<Task>> tasks(local_agents.size());
    for (const int group : groups) {
        const auto& members = plan.groups[static_cast<std::size_t>(group)].members;
        const int low = members[0];
        const int high = members[1];
        const auto low_place = place_of(local_agents, low);
        const auto high_place = place_of(local_agents, high);
        const bool low_computes = low_place && (!high_place || (low + high) % 2 == 0);
        if (low_computes)
            tasks[*low_place].push_back({group, high, high_place, std::nullopt});
        else if (high_place)
            tasks[*high_place].push_back({group, low, low_place, std::nullopt});
    }
    return tasks;
}

}  // namespace

std::vector<LocalSeed> derive_pair_seeds(const NoisePlan& plan,
                                         Session& session,
                                         std::span<const int> local_agents,
                                         std::span<const int> groups,
                                         int threads) {
    std::vector<std::vector<Task>> tasks = tasks_of(plan, local_agents, groups);
    parallel_for(static_cast<long>(tasks.size()), threads, [&](long a) {
        const auto agent = static_cast<std::size_t>(a);
        for (Task& task : tasks[agent])
            task.seed =
                group_seed(drawn_by_pair(session.secrets[agent].with(task.peer), task.group),
                           session.transcript,
                           task.group);
    });
    std::vector<LocalSeed> seeds;
    for (std::size_t a = 0; a < tasks.size(); ++a)
        for (Task& task : tasks[a]) {
            if (task.peer_place)
                seeds.push_back({*task.peer_place, task.group, task.seed->clone()});
            seeds.push_back({a, task.group, std::move(*task.seed)});
        }
    return seeds;
}

}  // namespace sotto
