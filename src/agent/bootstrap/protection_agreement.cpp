#include "agent/bootstrap/protection_agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "net/agreement.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"

namespace sotto {

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

}  // namespace sotto
