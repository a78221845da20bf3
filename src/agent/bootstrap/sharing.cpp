#include "agent/bootstrap/sharing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/bootstrap/protection_agreement.hpp"
#include "core/bytes.hpp"
#include "graph/edge_list.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/plan/noise_plan.hpp"

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
            Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(agents, agents);
            for (int u = 0; u < agents; ++u)
                for (const int v : graph.closed_neighbourhood(u))
                    weights(u, v) = reader.get<double>();
            return MixingMatrix::from_dense(graph, weights, kind);
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

}  // namespace sotto
