#include "sotto/agent/bootstrap.hpp"

#include <fmt/format.h>

#include <cstring>
#include <type_traits>

#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

/// Plain values one after the other in a string.
class Packer {
  public:
    template <class T>
    void put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void put_text(std::string_view text) {
        put(static_cast<std::uint64_t>(text.size()));
        bytes_.append(text);
    }
    [[nodiscard]] std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

class Unpacker {
  public:
    explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
    template <class T>
    T get() {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::string_view part = take(sizeof(T));
        T value;
        std::memcpy(&value, part.data(), sizeof value);
        return value;
    }
    std::string_view get_text() { return take(get<std::uint64_t>()); }
    [[nodiscard]] bool done() const { return bytes_.empty(); }

  private:
    std::string_view take(std::uint64_t size) {
        if (size > bytes_.size())
            throw NetworkError("bootstrap: a message from a peer is cut short");
        const std::string_view part = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return part;
    }
    std::string_view bytes_;
};

std::string pack(const Topography& topography) {
    const Graph& graph = topography.graph;
    Packer packer;
    packer.put(std::int32_t{graph.agents()});
    for (int u = 0; u < graph.agents(); ++u) packer.put_text(graph.label(u));
    packer.put(static_cast<std::uint64_t>(graph.edges().size()));
    for (const auto& [u, v] : graph.edges()) {
        packer.put(std::int32_t{u});
        packer.put(std::int32_t{v});
    }
    for (int u = 0; u < graph.agents(); ++u) {
        const auto weights = topography.mixing.weights(u);
        for (const double weight : weights) packer.put(weight);
    }
    return packer.take();
}

Topography unpack_topography(std::string_view bytes) {
    Unpacker unpacker(bytes);
    const auto agents = unpacker.get<std::int32_t>();
    std::vector<std::string> labels;
    for (int u = 0; u < agents; ++u) labels.emplace_back(unpacker.get_text());
    std::vector<Edge> edges(unpacker.get<std::uint64_t>());
    for (auto& [u, v] : edges) {
        u = unpacker.get<std::int32_t>();
        v = unpacker.get<std::int32_t>();
    }
    Graph graph = Graph::from_edges(agents, std::move(edges), std::move(labels));
    Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(agents, agents);
    for (int u = 0; u < agents; ++u)
        for (const int v : graph.closed_neighbourhood(u)) weights(u, v) = unpacker.get<double>();
    MixingMatrix mixing = MixingMatrix::from_dense(graph, weights);
    return {std::move(graph), std::move(mixing)};
}

}  // namespace

Topography share_topography(Network& network, const std::optional<Topography>& own) {
    if (network.processes() == 1) return *own;
    const std::string bytes = network.broadcast(own ? pack(*own) : std::string());
    std::optional<Topography> shared;
    network.agree([&] { shared = unpack_topography(bytes); });
    return std::move(*shared);
}

NoisePlan share_plan(Network& network, const std::optional<NoisePlan>& own) {
    if (network.processes() == 1) return *own;
    const std::string text = network.broadcast(own ? to_json(*own) : std::string());
    NoisePlan plan;
    network.agree([&] { plan = plan_from_json(text, "plan from rank 0"); });
    return plan;
}

void verify_agreement(Network& network,
                      const Topography& topography,
                      const NoisePlan& plan,
                      const std::vector<Exposure>& exposures,
                      const std::vector<PrivacyBudget>& budgets) {
    network.agree([&] {
        if (plan.agents != topography.graph.agents())
            throw ConfigError(fmt::format("plan: made for {} agents, the graph has {}",
                                          plan.agents,
                                          topography.graph.agents()));
        if (plan.noiseless()) {
            for (const int agent : network.local_agents())
                if (!(budgets[static_cast<std::size_t>(agent)].mu == 0))
                    throw PrivacyError(fmt::format(
                        "the plan ({}) adds no noise, agent {} has a budget of epsilon {}; solve a "
                        "plan for it, or choose mechanism none (and no plan file) on every rank",
                        plan.mechanism,
                        agent,
                        budgets[static_cast<std::size_t>(agent)].epsilon));
            return;
        }
        verify_agents_protected(plan, network.local_agents(), exposures, budgets);
    });
    Hasher hasher("sotto.agreement.v1");
    hasher.add_bytes(topography.graph.hash());
    hasher.add_bytes(topography.mixing.hash());
    hasher.add_bytes(plan.hash());
    const Digest digest = hasher.finish();
    const auto all = network.all_gather(std::string(digest.begin(), digest.end()));
    for (std::size_t p = 1; p < all.size(); ++p)
        if (all[p] != all[0])
            throw NetworkError(
                fmt::format("rank {} holds another graph, mixing matrix or plan than rank 0; start "
                            "all ranks with "
                            "the same program and options",
                            p));
}

std::vector<KeyRing> distribute_seeds(Network& network,
                                      const NoisePlan& plan,
                                      std::optional<std::uint64_t> noise_seed) {
    const std::uint64_t* seed = noise_seed ? &*noise_seed : nullptr;
    std::vector<KeyRing> rings;
    std::vector<EphemeralKeyPair> pairs;
    Packer announcement;
    for (const int agent : network.local_agents()) {
        draw_own_seeds(plan, seed, rings.emplace_back(agent));
        const auto key = pairs.emplace_back().public_key();
        announcement.put(std::int32_t{agent});
        announcement.put_text({reinterpret_cast<const char*>(key.data()), key.size()});
    }
    const auto announced = network.all_gather(announcement.take());
    std::vector<std::string> parcels(announced.size());
    network.agree([&] {
        if (network.process() != 0) return;
        const auto seeds = draw_dealt_seeds(plan, seed);
        for (std::size_t p = 0; p < announced.size(); ++p) {
            Packer parcel;
            for (Unpacker unpacker(announced[p]); !unpacker.done();) {
                const auto agent = unpacker.get<std::int32_t>();
                const std::string_view key = unpacker.get_text();
                if (key.size() != 32)
                    throw NetworkError("bootstrap: a public key has the wrong size");
                const auto sealed =
                    seal_seeds(plan,
                               seeds,
                               agent,
                               std::span<const std::uint8_t, 32>(
                                   reinterpret_cast<const std::uint8_t*>(key.data()), 32));
                parcel.put_text({reinterpret_cast<const char*>(sealed.data()), sealed.size()});
            }
            parcels[p] = parcel.take();
        }
    });
    const std::string received = network.scatter(parcels);
    network.agree([&] {
        Unpacker unpacker(received);
        for (std::size_t a = 0; a < rings.size(); ++a) {
            const std::string_view sealed = unpacker.get_text();
            open_seeds(plan,
                       {reinterpret_cast<const std::uint8_t*>(sealed.data()), sealed.size()},
                       pairs[a],
                       rings[a]);
        }
    });
    return rings;
}

}  // namespace sotto
