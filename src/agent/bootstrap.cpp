#include "sotto/agent/bootstrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/net/agreement.hpp"
#include "sotto/privacy/protection.hpp"
#include "sotto/trust/group_seeds.hpp"

namespace sotto {

namespace {

std::string pack(const Topography& topography) {
    const Graph& graph = topography.graph;
    ByteWriter packer;
    packer.put(std::int32_t{graph.agents()});
    for (int u = 0; u < graph.agents(); ++u) packer.put_text(graph.label(u));
    packer.put(static_cast<std::uint64_t>(graph.edges().size()));
    for (const auto& [u, v] : graph.edges()) {
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
    std::vector<Edge> edges(reader.get_count(2 * sizeof(std::int32_t)));
    for (auto& [u, v] : edges) {
        u = reader.get<std::int32_t>();
        v = reader.get<std::int32_t>();
    }
    try {
        Graph graph = Graph::from_edges(agents, std::move(edges), std::move(labels));
        const std::size_t later =
            reader.get_count(static_cast<std::size_t>(agents) * sizeof(double));
        const auto get_mixing = [&] {
            Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(agents, agents);
            for (int u = 0; u < agents; ++u)
                for (const int v : graph.closed_neighbourhood(u))
                    weights(u, v) = reader.get<double>();
            return MixingMatrix::from_dense(graph, weights);
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

constexpr double agreement_tolerance = 1e-12;

/// Largest difference of two equally long lists, relative to the largest of all values.
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

void compare(int process, const Topography& own, const Topography& shared) {
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

/// The plan without its numbers: what must be equal exactly.
Digest structure_of(NoisePlan plan) {
    plan.scale = plan.noiseless() ? 0 : 1;
    plan.grid_step_log2 = 0;
    plan.temporal.lower.setZero();
    for (auto& row : plan.rows) std::fill(row.coefficients.begin(), row.coefficients.end(), 0.0);
    return plan.hash();
}

void compare(int process, const NoisePlan& own, const NoisePlan& shared) {
    if (structure_of(own) != structure_of(shared))
        throw_difference(process, "noise plan (mechanism, streams or rows)");
    Difference scale, coefficients, temporal;
    scale.add({&own.scale, 1}, {&shared.scale, 1});
    for (std::size_t r = 0; r < own.rows.size(); ++r)
        coefficients.add(own.rows[r].coefficients, shared.rows[r].coefficients);
    const auto& lower = own.temporal.lower;
    temporal.add({lower.data(), static_cast<std::size_t>(lower.size())},
                 {shared.temporal.lower.data(), static_cast<std::size_t>(lower.size())});
    const auto require_small = [&](const Difference& difference, const std::string& name) {
        if (!difference.small())
            throw_difference(
                process,
                fmt::format("noise plan ({}: relative difference {:.2g}, allowed {:g})",
                            name,
                            difference.relative(),
                            agreement_tolerance));
    };
    require_small(scale, "scale");
    require_small(coefficients, "coefficients");
    require_small(temporal, "temporal factor");
    // A standard deviation just above a power of two on one process may be just below on another.
    if (std::abs(own.grid_step_log2 - shared.grid_step_log2) > 1)
        throw_difference(process, "noise plan (grid step)");
}

/// A plan with noise for single receivers has some for every neighbour, the agent itself and nobody
/// else.
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

}  // namespace

Topography share_topography(Network& network, const std::optional<Topography>& own) {
    if (network.processes() == 1) return *own;
    const std::string bytes = network.broadcast(own ? pack(*own) : std::string());
    std::optional<Topography> shared;
    network.agree([&] {
        shared = unpack_topography(bytes, network.agents());
        if (own && network.process() != 0) compare(network.process(), *own, *shared);
    });
    return std::move(*shared);
}

NoisePlan share_plan(Network& network, const std::optional<NoisePlan>& own) {
    if (network.processes() == 1) return *own;
    const std::string text = network.broadcast(own ? to_json(*own) : std::string());
    NoisePlan plan;
    network.agree([&] {
        try {
            plan = plan_from_json(text, "plan from rank 0");
        } catch (const DataError& error) {
            throw NetworkError(error.what());
        }
        if (own && network.process() != 0) compare(network.process(), *own, plan);
    });
    return plan;
}

void verify_agreement(Network& network,
                      const Topography& topography,
                      const NoisePlan& plan,
                      const std::vector<Exposure>& exposures,
                      const std::vector<PrivacyBudget>& budgets,
                      int coalition_size) {
    network.agree([&] {
        if (plan.agents != topography.graph.agents())
            throw ConfigError(fmt::format("plan: made for {} agents, the graph has {}",
                                          plan.agents,
                                          topography.graph.agents()));
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
    });
    Hasher hasher("sotto.agreement.v1");
    hasher.add_bytes(topography.graph.hash());
    hasher.add_bytes(topography.mixing_hash());
    hasher.add_bytes(plan.hash());
    const Digest digest = hasher.finish();
    require_same_everywhere(
        network,
        std::string(digest.begin(), digest.end()),
        [](std::size_t rank, const std::string&, const std::string&) {
            return fmt::format(
                "rank {} holds another graph, mixing matrix or plan than rank 0; start all ranks "
                "with the same program and options",
                rank);
        });
}

Session open_session(Network& network,
                     const Topography& topography,
                     const NoisePlan& plan,
                     const Credentials* credentials) {
    std::optional<Handshake> handshake;
    network.agree([&] {
        handshake.emplace(
            HandshakeTerms{
                network.agents(), topography.graph.hash(), topography.mixing_hash(), plan.hash()},
            network.local_agents(),
            credentials);
    });
    const auto announcements = network.all_gather(handshake->announcement());
    std::string confirmation;
    network.agree([&] {
        handshake->receive(announcements);
        confirmation = handshake->confirmation();
    });
    const auto confirmations = network.all_gather(confirmation);
    Session session;
    network.agree([&] { session = handshake->finish(confirmations); });
    return session;
}

namespace {

/// Where in the process's lists an agent is; nothing for agents of other processes.
std::optional<std::size_t> place_of(std::span<const int> local, int agent) {
    const auto found = std::lower_bound(local.begin(), local.end(), agent);
    if (found == local.end() || *found != agent) return std::nullopt;
    return static_cast<std::size_t>(found - local.begin());
}

/// Makes the seeds of one plan and run, maker by maker. Rings are filled as seeds become known.
class SeedDistribution {
  public:
    SeedDistribution(Network& network, const NoisePlan& plan, Session& session, int threads)
        : network_(network),
          plan_(plan),
          session_(session),
          threads_(threads),
          local_(network.local_agents()) {
        for (const int agent : local_) rings_.emplace_back(agent);
        for (std::size_t g = 0; g < plan.groups.size(); ++g)
            groups_[maker_of(plan.groups[g], plan.agents)].push_back(static_cast<int>(g));
    }

    std::vector<KeyRing> run() {
        network_.agree([&] {
            draw_own();
            derive_pairs();
        });
        // The plan is the same on every process, and so is what it makes them exchange.
        if (!groups_[SeedMaker::lowest_member].empty()) deal_to_members();
        if (!groups_[SeedMaker::everybody].empty()) draw_together();
        return std::move(rings_);
    }

  private:
    using Parcel = std::pair<int, int>;  // sender, recipient

    [[nodiscard]] const std::vector<int>& members(int group) const {
        return plan_.groups[static_cast<std::size_t>(group)].members;
    }
    [[nodiscard]] std::optional<std::size_t> place(int agent) const {
        return place_of(local_, agent);
    }
    void add(std::size_t ring, int group, const SecretKey& drawn) {
        rings_[ring].add(group, group_seed(drawn, session_.transcript, group));
    }

    void draw_own() {
        for (const int group : groups_[SeedMaker::owner])
            if (const auto owner = place(members(group).front()))
                add(*owner, group, SecretKey::random());
    }

    /// Agents of one process compute a secret they share once: the end that does so alternates, so
    /// that threads, which work on whole agents, have equal shares.
    void derive_pairs() {
        struct Task {
            int group, peer;
            std::optional<std::size_t> peer_place;
            std::optional<SecretKey> seed;
        };
        std::vector<std::vector<Task>> tasks(local_.size());
        for (const int group : groups_[SeedMaker::pair]) {
            const int low = members(group)[0];
            const int high = members(group)[1];
            const auto low_place = place(low);
            const auto high_place = place(high);
            const bool low_computes = low_place && (!high_place || (low + high) % 2 == 0);
            if (low_computes)
                tasks[*low_place].push_back({group, high, high_place, std::nullopt});
            else if (high_place)
                tasks[*high_place].push_back({group, low, low_place, std::nullopt});
        }
        parallel_for(static_cast<long>(local_.size()), threads_, [&](long a) {
            const auto agent = static_cast<std::size_t>(a);
            for (Task& task : tasks[agent])
                task.seed =
                    group_seed(drawn_by_pair(session_.secrets[agent].with(task.peer), task.group),
                               session_.transcript,
                               task.group);
        });
        for (std::size_t a = 0; a < tasks.size(); ++a)
            for (Task& task : tasks[a]) {
                if (task.peer_place) rings_[*task.peer_place].add(task.group, task.seed->clone());
                rings_[a].add(task.group, std::move(*task.seed));
            }
    }

    void deal_to_members() {
        std::map<Parcel, std::vector<int>> outgoing, expected;
        ByteWriter writer;
        network_.agree([&] {
            std::map<int, SecretKey> drawn;
            for (const int group : groups_[SeedMaker::lowest_member]) {
                const int dealer = members(group).front();
                const auto dealer_place = place(dealer);
                if (dealer_place) drawn.emplace(group, SecretKey::random());
                for (const int member : members(group)) {
                    const auto member_place = place(member);
                    if (dealer_place && member_place)
                        add(*member_place, group, drawn.at(group));
                    else if (dealer_place)
                        outgoing[{dealer, member}].push_back(group);
                    else if (member_place)
                        expected[{dealer, member}].push_back(group);
                }
            }
            for (const auto& [parcel, groups] : outgoing) {
                const auto [dealer, member] = parcel;
                writer.put(std::int32_t{dealer});
                writer.put(std::int32_t{member});
                writer.put_text(seal_seeds(
                    session_.secrets[*place(dealer)].with(member), dealer, member, groups, drawn));
            }
        });
        const auto gathered = network_.all_gather(writer.take());
        network_.agree([&] {
            for (std::size_t p = 0; p < gathered.size(); ++p) {
                if (static_cast<int>(p) == network_.process()) continue;
                ByteReader reader(gathered[p], fmt::format("what rank {} sent of seeds", p));
                while (!reader.done()) {
                    const auto dealer = reader.get<std::int32_t>();
                    const auto member = reader.get<std::int32_t>();
                    const std::string_view sealed = reader.get_text();
                    const auto member_place = place(member);
                    if (!member_place) continue;  // for another process
                    const auto wanted = expected.find({dealer, member});
                    if (wanted == expected.end())
                        throw CryptoError(fmt::format(
                            "rank {} sent agent {} seeds of agent {} that the plan does not give "
                            "it, or gave it already",
                            p,
                            member,
                            dealer));
                    const auto seeds = open_seeds(session_.secrets[*member_place].with(dealer),
                                                  dealer,
                                                  member,
                                                  wanted->second,
                                                  sealed);
                    for (std::size_t i = 0; i < seeds.size(); ++i)
                        add(*member_place, wanted->second[i], seeds[i]);
                    expected.erase(wanted);
                }
            }
            if (!expected.empty()) {
                const auto [dealer, member] = expected.begin()->first;
                throw CryptoError(fmt::format("agent {} did not send agent {} the seed of group {}",
                                              dealer,
                                              member,
                                              expected.begin()->second.front()));
            }
        });
    }

    /// Every share goes to agent 0, sealed, and all shares come back, sealed, to one agent of every
    /// process. Everybody checks all shares against what was committed to in the handshake.
    void draw_together() {
        const bool leader = network_.process() == 0;
        ByteWriter writer;
        network_.agree([&] {
            for (std::size_t a = 0; a < local_.size(); ++a) {
                writer.put(std::int32_t{local_[a]});
                writer.put_text(leader ? std::string()
                                       : seal(session_.secrets[a].with(0),
                                              SealPurpose::share,
                                              local_[a],
                                              0,
                                              session_.shares[a].bytes()));
            }
        });
        const auto gathered = network_.all_gather(writer.take());

        std::vector<Digest> commitments;
        for (const Announcement& agent : session_.announcements)
            commitments.push_back(agent.share_commitment);
        SecretBytes shares(commitments.size() * SecretKey::size);
        std::vector<std::string> parcels(gathered.size());
        network_.agree([&] {
            if (!leader) return;
            for (std::size_t a = 0; a < local_.size(); ++a)
                put_share(shares, local_[a], session_.shares[a].bytes());
            std::vector<int> recipients(gathered.size(), -1);
            for (std::size_t p = 1; p < gathered.size(); ++p) {
                ByteReader reader(gathered[p], fmt::format("the shares of rank {}", p));
                while (!reader.done()) {
                    const auto agent = reader.get<std::int32_t>();
                    const std::string_view sealed = reader.get_text();
                    const SecretBytes share = open_sealed(session_.secrets[*place(0)].with(agent),
                                                          SealPurpose::share,
                                                          agent,
                                                          0,
                                                          sealed);
                    put_share(shares, agent, share.span());
                    if (recipients[p] < 0) recipients[p] = agent;
                }
            }
            check_shares(shares.span(), commitments);
            for (std::size_t p = 1; p < gathered.size(); ++p)
                if (recipients[p] >= 0)
                    parcels[p] = seal(session_.secrets[*place(0)].with(recipients[p]),
                                      SealPurpose::all_shares,
                                      0,
                                      recipients[p],
                                      shares.span());
        });
        const std::string parcel = network_.scatter(parcels);
        network_.agree([&] {
            if (!leader) {
                const SecretBytes opened = open_sealed(session_.secrets.front().with(0),
                                                       SealPurpose::all_shares,
                                                       0,
                                                       local_.front(),
                                                       parcel);
                check_shares(opened.span(), commitments);
                std::copy(opened.span().begin(), opened.span().end(), shares.span().begin());
            }
            const SecretKey drawn = drawn_by_everybody(shares.span());
            for (const int group : groups_[SeedMaker::everybody])
                for (std::size_t a = 0; a < local_.size(); ++a) add(a, group, drawn);
        });
    }

    static void put_share(SecretBytes& shares, int agent, std::span<const std::uint8_t> share) {
        if (share.size() != SecretKey::size)
            throw CryptoError(fmt::format("the share of agent {} has {} bytes; it must have {}",
                                          agent,
                                          share.size(),
                                          SecretKey::size));
        std::copy(share.begin(),
                  share.end(),
                  shares.span().begin() + static_cast<std::ptrdiff_t>(agent) * SecretKey::size);
    }

    Network& network_;
    const NoisePlan& plan_;
    Session& session_;
    int threads_;
    std::span<const int> local_;
    std::map<SeedMaker, std::vector<int>> groups_;
    std::vector<KeyRing> rings_;
};

}  // namespace

std::vector<KeyRing> distribute_seeds(Network& network,
                                      const NoisePlan& plan,
                                      Session& session,
                                      int threads) {
    return SeedDistribution(network, plan, session, threads).run();
}

std::vector<KeyRing> distribute_seeds(const Network& network,
                                      const NoisePlan& plan,
                                      std::uint64_t noise_seed) {
    return reproducible_rings(plan, network.local_agents(), noise_seed);
}

}  // namespace sotto
