#include "training/participants.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "agent/bootstrap.hpp"
#include "config/agent_path.hpp"
#include "core/bytes.hpp"
#include "design/seed_groups.hpp"
#include "planning/build_topography.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

std::string number_of_agents(int agents, const Network& network) {
    if (network.processes() == 1) return fmt::format("{} agents", agents);
    return network.blocks().one_each()
               ? fmt::format(
                     "{} MPI ranks (each is one agent, unless --agents N has them host "
                     "several)",
                     agents)
               : fmt::format("{} agents on {} MPI ranks", agents, network.processes());
}

/// @throws ConfigError unless the network has as many agents as participate.
void require_agents_for(const Membership& members, const Network& network) {
    if (members.size() != network.agents())
        throw ConfigError(fmt::format("agents: {} of the run's {} take part, but there are {}",
                                      members.size(),
                                      members.all,
                                      number_of_agents(network.agents(), network)));
}

void require_possible_rounds(const TrainConfig& config) {
    require_positive("step-size", config.plan.steps.step_size);
    require_positive("clip-norm", config.plan.clip_norm);
    require_in_range("l2", config.l2, 0, 1e6);
    require_in_range("eval-every", static_cast<double>(config.evaluate_every), 0, 1e12);
    require_in_range("checkpoint-every", static_cast<double>(config.checkpoint_every), 0, 1e12);
    require_in_range("rounds", static_cast<double>(config.plan.rounds), 1, 1e12);
    require_in_range(
        "batch-size", static_cast<double>(config.plan.batch_size.number.value_or(1)), 1, 1e12);
}

void require_possible_messages(const TrainConfig& config, const Membership& members) {
    require_in_range("mask-partners", config.mask_partners, 1, 1e9);
    for (const int agent : config.record_views)
        require_in_range("record-view", agent, 0, members.all - 1);
}

/// The roster, and the identity of each agent of this process. LOCAL.
std::optional<Credentials> read_credentials(const TrainConfig& config,
                                            const Network& network,
                                            const Membership& members) {
    if (!config.trust) return std::nullopt;
    Credentials credentials{Roster::read(config.trust->roster), {}};
    for (const int agent : network.local_agents())
        credentials.identities.push_back(
            Identity::read(path_of_agent(config.trust->identity, members.number(agent))));
    return credentials;
}

/// The topography of all agents of the run.
BuiltTopography build_whole(const TrainConfig& config,
                            const Network& network,
                            const Membership& members) {
    BuiltTopography built = build_topography(config.graph, config.plan);
    const int agents = built.topography.graph.agents();
    if (agents != members.all)
        throw ConfigError(fmt::format("agents: the graph ({}) has {}, but there are {}",
                                      built.description,
                                      agents,
                                      number_of_agents(members.all, network)));
    return built;
}

/// Receivers whose weights differ even slightly get sums that reveal what equal weights hide.
/// @throws NetworkError unless both have the same bits.
void require_own_weights(const Network& network, const Topography& own, const Topography& shared) {
    if (own.mixing_hash() == shared.mixing_hash()) return;
    throw NetworkError(fmt::format(
        "rank {} built other mixing weights than rank 0, though they differ by little; with "
        "--secure-sum on they must have the same bits (start all ranks with the same options and "
        "files)",
        network.process()));
}

/// @param taking_part number of agents without the spares.
/// @throws ConfigError if the missing agents are not the spares.
Membership first_members(const TrainConfig& config, int taking_part) {
    const std::vector<int>& spares = config.spares;
    if (spares.empty()) return Membership::everybody(taking_part);
    const int all = taking_part + static_cast<int>(spares.size());
    require_possible_spares(spares, all);
    if (const int known = agents_of(config.graph); known != all)
        throw ConfigError(
            fmt::format("--spares: {} of {} agents are to wait, but {} take part; agents can wait "
                        "in `sotto train` only",
                        spares.size(),
                        known,
                        taking_part));
    Membership members{all, {}};
    std::ranges::set_difference(
        Membership::everybody(all).numbers, spares, std::back_inserter(members.numbers));
    return members;
}

bool ever_took_part(const RunHistory& history, int number) {
    return std::ranges::any_of(history.phases, [number](const PrivacyPhase& phase) {
        return phase.members.place(number) >= 0;
    });
}

/// @throws ConfigError unless the agent exists and has never participated.
void require_new(const RunHistory& history, int number) {
    const int all = history.phases.front().members.all;
    if (number >= 0 && number < all && !ever_took_part(history, number)) return;
    throw ConfigError(
        fmt::format("--joining: agent {} {} (allowed: {})",
                    number,
                    number < 0 || number >= all ? "does not exist" : "has taken part already",
                    "spares of the run, --spares, that were never part of it"));
}

}  // namespace

Membership agree_on_members(const TrainConfig& config,
                            Network& network,
                            const RunHistory* history) {
    Membership members;
    network.agree([&] {
        members = history != nullptr ? members_after(*history, *config.resume)
                                     : first_members(config, network.agents());
        require_agents_for(members, network);
    });
    return members;
}

Participants gather_participants(const TrainConfig& config, Network& network, Membership members) {
    const bool solves = network.process() == 0 || config.bootstrap == Bootstrap::distributed;
    const bool builds = solves || config.secure_sum;
    std::optional<Credentials> credentials;
    std::optional<BuiltTopography> built;
    std::optional<Topography> whole;
    network.agree([&] {
        require_possible_rounds(config);
        credentials = read_credentials(config, network, members);
        require_possible_messages(config, members);
        if (!builds) return;
        built = build_whole(config, network, members);
        whole = built->topography;
        built = keep_members(std::move(*built), config, members);
    });
    Topography topography =
        share_topography(network,
                         built ? std::optional(built->topography) : std::nullopt,
                         most_mixing_matrices(config.graph, config.plan.rounds));
    if (config.secure_sum)
        network.agree([&] { require_own_weights(network, built->topography, topography); });
    return {std::move(members),
            std::move(credentials),
            std::move(built),
            std::move(whole),
            std::move(topography),
            solves};
}

void require_possible_spares(const std::vector<int>& spares, int all) {
    for (const int number : spares)
        if (number < 1 || number >= all)
            throw ConfigError(
                fmt::format("--spares: agent {} {} (allowed: 1 to {})",
                            number,
                            number == 0 ? "leads the run and cannot wait" : "does not exist",
                            all - 1));
}

Membership members_after(const RunHistory& history, const ResumeConfig& change) {
    const Membership& before = history.phases.back().members;
    for (const int number : change.without)
        if (before.place(number) < 0)
            throw ConfigError(fmt::format(
                "--without: agent {} {} (allowed: agents that are still in the run, {})",
                number,
                number < 0 || number >= before.all ? "does not exist"
                : ever_took_part(history, number)  ? "has already left"
                                                   : "has not joined",
                fmt::join(before.numbers, ", ")));
    for (const int number : change.joining) require_new(history, number);
    std::vector<int> rest;
    std::ranges::set_difference(before.numbers, change.without, std::back_inserter(rest));
    Membership members{before.all, {}};
    std::ranges::set_union(rest, change.joining, std::back_inserter(members.numbers));
    if (members.numbers.empty())
        throw ConfigError("--without: nobody is left (allowed: at least one agent stays)");
    return members;
}

std::vector<int> waiting_spares(const std::vector<int>& spares, const RunHistory* history) {
    std::vector<int> waiting;
    std::ranges::copy_if(spares, std::back_inserter(waiting), [history](int number) {
        return history == nullptr || !ever_took_part(*history, number);
    });
    return waiting;
}

BuiltTopography keep_members(BuiltTopography built,
                             const TrainConfig& config,
                             const Membership& members) {
    if (members.size() == members.all) return built;
    const std::vector<int> gone = members.gone();
    const std::string who = fmt::format("{}", fmt::join(gone, ","));
    const char* absent = config.resume ? "without" : "spares";
    const auto refuse = [&](const std::string& option, const std::string& why) {
        throw ConfigError(
            fmt::format("--{}: not possible with --{}, {} (agents {})", absent, option, why, who));
    };
    if (!is_mixing_rule(config.graph.mixing))
        refuse("mixing FILE", "whose weights are for all agents");
    if (built.topography.mixing.push_sum())
        refuse("mixing push-sum", "whose sums would lack the part of agents that leave");
    if (!built.topography.later_mixing.empty())
        refuse("mixing-schedule", "whose matrices are for all agents");
    if (config.plan.plan_file) refuse("plan", "whose noise is for all agents");
    if (config.plan.covariance_file) refuse("covariance", "which is of all agents");
    if (is_seed_group_file(config.plan.seed_groups)) refuse("seed-groups FILE", "which names them");
    if (!config.record_views.empty() || config.record_wire)
        refuse("record-view", "whose files are of all agents");
    Graph rest = built.topography.graph.induced_subgraph(members.numbers);
    const auto components = rest.components();
    for (int place = 0; place < rest.agents(); ++place)
        if (components[static_cast<std::size_t>(place)] != components.front())
            throw ConfigError(fmt::format(
                "--{}: without agents {}, agent {} is not connected to agent {} (leave out others "
                "too, or start a run on another graph)",
                absent,
                who,
                members.number(place),
                members.number(0)));
    MixingMatrix mixing =
        configured_mixing(config.graph, &config.plan, built.topography.graph, members.numbers);
    built.topography = {std::move(rest), std::move(mixing), {}};
    built.description += fmt::format(", without {}", who);
    return built;
}

std::string pack_neighbour_lists(const std::vector<NeighbourList>& lists) {
    ByteWriter writer;
    for (const NeighbourList& list : lists) {
        writer.put(static_cast<std::uint64_t>(list.size()));
        for (const int neighbour : list) writer.put(std::int32_t{neighbour});
    }
    return writer.take();
}

std::vector<NeighbourList> unpack_neighbour_lists(std::string_view bytes,
                                                  int process,
                                                  const AgentBlocks& blocks) {
    ByteReader reader(bytes, fmt::format("what rank {} says of its neighbours", process));
    std::vector<NeighbourList> lists;
    for (int a = 0; a < blocks.size(process); ++a) {
        NeighbourList& list = lists.emplace_back(reader.get_count(sizeof(std::int32_t)));
        for (int& neighbour : list) neighbour = reader.get<std::int32_t>();
        const bool ascends = std::ranges::adjacent_find(list, std::greater_equal<>()) == list.end();
        const bool exist = list.empty() || (list.front() >= 0 && list.back() < blocks.agents());
        if (!ascends || !exist || std::ranges::binary_search(list, blocks.first(process) + a))
            reader.fail();
    }
    reader.require_done();
    return lists;
}

Graph agree_on_graph(Network& network, const std::string& path) {
    const int agents = network.agents();
    std::vector<NeighbourList> own;
    network.agree([&] {
        for (const int agent : network.local_agents())
            own.push_back(read_neighbour_list(path_of_agent(path, agent), agent, agents));
    });
    const std::uint64_t of_one =
        sizeof(std::uint64_t) + sizeof(std::int32_t) * static_cast<std::uint64_t>(agents);
    const std::vector<std::string> said =
        network.all_gather(pack_neighbour_lists(own), network.most_agents_of_a_process() * of_one);
    std::optional<Graph> graph;
    network.agree([&] {
        std::vector<NeighbourList> all;
        for (int p = 0; p < network.processes(); ++p)
            std::ranges::move(
                unpack_neighbour_lists(said[static_cast<std::size_t>(p)], p, network.blocks()),
                std::back_inserter(all));
        graph = graph_of_neighbour_lists(all);
    });
    return std::move(*graph);
}

}  // namespace sotto
