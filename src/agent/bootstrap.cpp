#include "agent/bootstrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes.hpp"
#include "core/parallel.hpp"
#include "graph/edge_list.hpp"
#include "net/agreement.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "trust/seed_agreement.hpp"

namespace sotto {

Topography share_topography(Control& network,
                            const std::optional<Topography>& own,
                            double most_matrices) {
    if (network.processes() == 1) return *own;
    const std::string bytes =
        network.broadcast(own ? pack_topography(*own) : std::string(),
                          largest_topography_bytes(network.agents(), most_matrices));
    std::optional<Topography> shared;
    network.agree([&] {
        shared = unpack_topography(bytes, network.agents());
        if (own && network.process() != 0) require_same(network.process(), *own, *shared);
    });
    return std::move(*shared);
}

NoisePlan share_plan(Control& network,
                     const std::optional<NoisePlan>& own,
                     const Graph& graph,
                     double most_temporal_values) {
    if (network.processes() == 1) return *own;
    double coefficients = 0;
    for (int u = 0; u < graph.agents(); ++u) {
        const auto members = static_cast<double>(graph.closed_neighbourhood(u).size());
        coefficients += members * members;
    }
    const std::string text =
        network.broadcast(own ? to_json(*own) : std::string(),
                          largest_plan_bytes(graph.agents(), coefficients, most_temporal_values));
    NoisePlan plan;
    network.agree([&] {
        try {
            plan = plan_from_json(text, "plan from rank 0");
        } catch (const DataError& error) {
            throw NetworkError(error.what());
        }
        if (own && network.process() != 0) require_same(network.process(), *own, plan);
    });
    return plan;
}

namespace {

bool get_flag(ByteReader& reader) {
    const auto flag = reader.get<std::uint8_t>();
    if (flag > 1) reader.fail();
    return flag == 1;
}

}  // namespace

std::uint64_t largest_topography_bytes(int agents, double most_matrices) {
    constexpr double sizes = 64;
    const double n = agents, arcs = n * (n - 1);
    const double weights = most_matrices * (n + arcs);
    const double bytes = sizes + n * (sizeof(std::uint64_t) + longest_label) +
                         2 * sizeof(std::int32_t) * arcs + sizeof(double) * weights;
    return static_cast<std::uint64_t>(std::min(bytes, 0x1p62));
}

std::string pack_topography(const Topography& topography) {
    const Graph& graph = topography.graph;
    ByteWriter packer;
    packer.put(std::int32_t{graph.agents()});
    for (int u = 0; u < graph.agents(); ++u) packer.put_text(graph.label(u));
    packer.put(static_cast<std::uint8_t>(graph.directed()));
    packer.put(static_cast<std::uint8_t>(topography.mixing.push_sum()));
    const auto links = graph.links();
    packer.put(static_cast<std::uint64_t>(links.size()));
    for (const auto& [u, v] : links) {
        packer.put(std::int32_t{u});
        packer.put(std::int32_t{v});
    }
    packer.put(static_cast<std::uint64_t>(topography.later_mixing.size()));
    const auto put_weights = [&](const MixingMatrix& mixing) {
        for (int u = 0; u < graph.agents(); ++u)
            for (const double weight : mixing.weights(u)) packer.put(weight);
    };
    put_weights(topography.mixing);
    for (const MixingMatrix& mixing : topography.later_mixing) put_weights(mixing);
    return packer.take();
}

Topography unpack_topography(std::string_view bytes, int wanted_agents) {
    ByteReader reader(bytes, "the graph from rank 0");
    const auto agents = reader.get<std::int32_t>();
    if (agents != wanted_agents) reader.fail();
    std::vector<std::string> labels;
    for (int u = 0; u < agents; ++u) labels.emplace_back(reader.get_text());
    const bool directed = get_flag(reader);
    const MixingKind kind = get_flag(reader) ? MixingKind::push_sum : MixingKind::averaging;
    std::vector<std::pair<int, int>> links(reader.get_count(2 * sizeof(std::int32_t)));
    for (auto& [u, v] : links) {
        u = reader.get<std::int32_t>();
        v = reader.get<std::int32_t>();
    }
    try {
        Graph graph = Graph::from_links(agents, directed, std::move(links), std::move(labels));
        const std::size_t later =
            reader.get_count(static_cast<std::size_t>(agents) * sizeof(double));
        const auto get_mixing = [&] {
            return MixingMatrix::from_weights(
                graph, [&](int, int) { return reader.get<double>(); }, kind);
        };
        MixingMatrix mixing = get_mixing();
        std::vector<MixingMatrix> later_mixing;
        for (std::size_t i = 0; i < later; ++i) later_mixing.push_back(get_mixing());
        reader.require_done();
        return {std::move(graph), std::move(mixing), std::move(later_mixing)};
    } catch (const NetworkError&) {
        throw;
    } catch (const Error& error) {
        throw NetworkError(fmt::format("the graph from rank 0 is not usable: {}", error.what()));
    }
}

Session open_session(Control& network,
                     const Topography& topography,
                     const NoisePlan& plan,
                     const Credentials* credentials,
                     std::string_view agreed_options) {
    Hasher hasher("sotto.agreed-options.v1");
    const Digest options = hasher.add(agreed_options).finish();
    std::optional<Handshake> handshake;
    network.agree([&] {
        handshake.emplace(HandshakeTerms{network.agents(),
                                         topography.graph.hash(),
                                         topography.mixing_hash(),
                                         plan.hash(),
                                         options},
                          network.local_agents(),
                          credentials);
    });
    const auto announcements =
        network.all_gather(handshake->announcement(),
                           Handshake::announcement_bytes(network.most_agents_of_a_process()));
    std::string confirmation;
    network.agree([&] {
        handshake->receive(announcements);
        confirmation = handshake->confirmation();
    });
    const auto confirmations = network.all_gather(
        confirmation, Handshake::confirmation_bytes(network.most_agents_of_a_process()));
    Session session;
    network.agree([&] { session = handshake->finish(confirmations); });
    return session;
}

namespace {

/// Checks that a plan with noise for single receivers has it for exactly every neighbour and the
/// agent itself.
void require_noise_for_neighbours(const NoisePlan& plan, const Graph& graph) {
    if (plan.same_message_to_all()) return;
    std::vector<std::vector<int>> receivers(static_cast<std::size_t>(plan.agents));
    for (const auto& row : plan.rows)
        receivers[static_cast<std::size_t>(row.sender)].push_back(row.receiver);
    for (int u = 0; u < plan.agents; ++u)
        if (!std::ranges::equal(receivers[static_cast<std::size_t>(u)],
                                graph.closed_neighbourhood(u)))
            throw PrivacyError(fmt::format(
                "the plan ({}) has no noise for exactly the neighbours of agent {}; solve a plan "
                "for this graph",
                plan.mechanism,
                u));
}

void require_protection(const Control& network,
                        const Topography& topography,
                        const NoisePlan& plan,
                        const std::vector<Exposure>& exposures,
                        const std::vector<PrivacyBudget>& budgets,
                        int coalition_size) {
    if (plan.agents != topography.graph.agents())
        throw ConfigError(fmt::format(
            "plan: made for {} agents, the graph has {}", plan.agents, topography.graph.agents()));
    if (plan.noiseless()) {
        for (const int agent : network.local_agents())
            if (budgets[static_cast<std::size_t>(agent)].limit != PrivacyLoss())
                throw PrivacyError(fmt::format(
                    "the plan ({}) adds no noise, agent {} has a budget of epsilon {}; solve a "
                    "plan for it, or choose mechanism none (and no plan file) on every rank",
                    plan.mechanism,
                    agent,
                    budgets[static_cast<std::size_t>(agent)].epsilon));
        return;
    }
    require_noise_for_neighbours(plan, topography.graph);
    verify_agents_protected(plan, network.local_agents(), exposures, budgets, coalition_size);
}

std::string digest_of(const Topography& topography, const NoisePlan& plan) {
    Hasher hasher("sotto.agreement.v1");
    hasher.add_bytes(topography.graph.hash());
    hasher.add_bytes(topography.mixing_hash());
    hasher.add_bytes(plan.hash());
    const Digest digest = hasher.finish();
    return std::string(digest.begin(), digest.end());
}

}  // namespace

void verify_agreement(Control& network,
                      const Topography& topography,
                      const NoisePlan& plan,
                      const std::vector<Exposure>& exposures,
                      const std::vector<PrivacyBudget>& budgets,
                      int coalition_size) {
    network.agree(
        [&] { require_protection(network, topography, plan, exposures, budgets, coalition_size); });
    require_same_everywhere(
        network,
        digest_of(topography, plan),
        [](std::size_t rank, const std::string&, const std::string&) {
            return fmt::format(
                "rank {} holds another graph, mixing matrix or plan than rank 0; start all ranks "
                "with the same program and options",
                rank);
        });
}

namespace {

constexpr double agreement_tolerance = 1e-12;

/// Largest difference of two lists of equal length, relative to their largest value.
class Difference {
  public:
    void add(std::span<const double> a, std::span<const double> b) {
        for (std::size_t i = 0; i < a.size(); ++i) {
            difference_ = std::max(difference_, std::abs(a[i] - b[i]));
            scale_ = std::max({scale_, std::abs(a[i]), std::abs(b[i])});
        }
    }
    [[nodiscard]] bool small() const { return difference_ <= agreement_tolerance * scale_; }
    [[nodiscard]] double relative() const { return scale_ > 0 ? difference_ / scale_ : 0; }

  private:
    double difference_ = 0, scale_ = 0;
};

[[noreturn]] void throw_difference(int process, const std::string& quantity) {
    throw NetworkError(
        fmt::format("rank {} found another {} than rank 0; start all ranks with the same program, "
                    "options and files",
                    process,
                    quantity));
}

/// The plan without its numbers, which must be equal exactly.
Digest structure_of(NoisePlan plan) {
    plan.scale = plan.noiseless() ? 0 : 1;
    plan.grid_step_log2 = 0;
    plan.temporal.lower.setZero();
    for (auto& row : plan.rows) std::fill(row.coefficients.begin(), row.coefficients.end(), 0.0);
    return plan.hash();
}

}  // namespace

void require_same(int process, const Topography& own, const Topography& shared) {
    if (own.graph.hash() != shared.graph.hash()) throw_difference(process, "graph");
    if (own.later_mixing.size() != shared.later_mixing.size())
        throw_difference(process, "mixing schedule");
    Difference weights;
    const auto add = [&](const MixingMatrix& a, const MixingMatrix& b) {
        for (int u = 0; u < own.graph.agents(); ++u) weights.add(a.weights(u), b.weights(u));
    };
    add(own.mixing, shared.mixing);
    for (std::size_t i = 0; i < own.later_mixing.size(); ++i)
        add(own.later_mixing[i], shared.later_mixing[i]);
    if (!weights.small())
        throw_difference(process,
                         fmt::format("mixing matrix (relative difference {:.2g}, allowed {:g})",
                                     weights.relative(),
                                     agreement_tolerance));
}

void require_same(int process, const NoisePlan& own, const NoisePlan& shared) {
    if (structure_of(own) != structure_of(shared))
        throw_difference(process, "noise plan (mechanism, streams or rows)");
    const auto require_small = [&](const Difference& difference, const std::string& name) {
        if (!difference.small())
            throw_difference(
                process,
                fmt::format("noise plan ({}: relative difference {:.2g}, allowed {:g})",
                            name,
                            difference.relative(),
                            agreement_tolerance));
    };
    Difference scale, coefficients, temporal;
    scale.add({&own.scale, 1}, {&shared.scale, 1});
    for (std::size_t r = 0; r < own.rows.size(); ++r)
        coefficients.add(own.rows[r].coefficients, shared.rows[r].coefficients);
    const auto& lower = own.temporal.lower;
    temporal.add({lower.data(), static_cast<std::size_t>(lower.size())},
                 {shared.temporal.lower.data(), static_cast<std::size_t>(lower.size())});
    require_small(scale, "scale");
    require_small(coefficients, "coefficients");
    require_small(temporal, "temporal factor");
    // A standard deviation near a power of two may lie on different sides on two machines.
    if (std::abs(own.grid_step_log2 - shared.grid_step_log2) > 1)
        throw_difference(process, "noise plan (grid step)");
}

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
