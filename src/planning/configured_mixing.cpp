#include "planning/configured_mixing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <utility>

#include "planning/planning.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/recent.hpp"
#include "sotto/design/mixing_design.hpp"
#include "sotto/design/seed_groups.hpp"
#include "sotto/graph/mixing_file.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

Digest digest_of_input(const MixingDesignInput& input) {
    Hasher hasher("sotto.mixing-problem.v1");
    hasher.add_bytes(input.graph->hash());
    hasher.add(input.mechanism != nullptr ? input.mechanism->name : "");
    hasher.add(name_of(input.utility)).add(std::int64_t{input.rounds});
    hasher.add(name_of(input.gossip_rule));
    hasher.add(input.smoothing.momentum).add(input.smoothing.decay);
    hasher.add(std::int64_t{input.smoothing.tail_rounds});
    hasher.add(std::int64_t{input.gossip_steps}).add(std::int64_t{input.coalition_size});
    hasher.add(std::int64_t{input.common_variance}).add(input.variance_cap).add(input.gap);
    add_to(hasher, input.seed_groups);
    if (input.covariance) hasher.add(values_of(*input.covariance));
    return hasher.finish();
}

/// R of --plan FILE among those who are there; nothing for a plan without noise.
std::optional<Eigen::MatrixXd> given_covariance(const NoisePlan& plan, std::span<const int> kept) {
    if (plan.noiseless()) return std::nullopt;
    if (!plan.same_message_to_all() || plan.entry != NoiseEntry::gradient ||
        plan.distribution() != StreamDistribution::gaussian ||
        plan.temporal.kind != TemporalFactor::Kind::identity ||
        plan.aggregation != Aggregation::gossip)
        throw ConfigError(fmt::format(
            "mixing: optimised is not possible with this plan of mechanism {} (allowed: another "
            "--mixing, or a plan of Gaussian noise on gradients that is independent between "
            "rounds)",
            plan.mechanism));
    const std::vector<int> places(kept.begin(), kept.end());
    const Eigen::MatrixXd covariance = spatial_covariance(plan);
    return covariance(places, places);
}

/// Seed groups between those who are there, by their places among them.
std::vector<SeedGroup> groups_between(const std::vector<SeedGroup>& groups,
                                      std::span<const int> kept) {
    std::vector<SeedGroup> result;
    for (const SeedGroup& group : groups) {
        SeedGroup between;
        for (const int member : group.members) {
            const auto place = std::ranges::lower_bound(kept, member);
            if (place != kept.end() && *place == member)
                between.members.push_back(static_cast<int>(place - kept.begin()));
        }
        if (between.members.size() > 1) result.push_back(std::move(between));
    }
    return result;
}

/// @param between the graph between those who are there, connected.
MixingDesignInput mixing_input(const PlanConfig& plan,
                               const Graph& graph,
                               std::span<const int> kept,
                               const Graph& between) {
    MixingDesignInput input;
    input.graph = &between;
    input.utility = plan.utility;
    input.rounds = plan.rounds;
    input.gossip_rule = plan.gossip;
    input.gossip_steps = plan.gossip_steps;
    input.smoothing.momentum = plan.momentum;
    input.smoothing.set_average(plan.average, plan.steps.first_round + plan.rounds);
    input.variance_cap = plan.variance_cap;
    input.gap = plan.plan_gap.value_or(default_gap(between.agents()));
    if (const auto given = read_given_plan(plan, graph.agents())) {
        input.covariance = given_covariance(*given, kept);
        return input;
    }
    if (plan.covariance_file) {
        const Eigen::MatrixXd given = read_npy(*plan.covariance_file);
        const std::vector<int> places(kept.begin(), kept.end());
        // One of another size is refused where the noise is designed.
        if (given.rows() == graph.agents() && given.cols() == graph.agents()) {
            input.covariance = given(places, places);
            return input;
        }
    }
    const Mechanism& mechanism = find_mechanism("mechanism", plan.mechanism);
    if (!mechanism.needs_budget) return input;
    input.mechanism = &mechanism;
    if (!shapes_mixing(mechanism)) return input;  // is refused
    input.common_variance = plan.common_variance || mechanism.common_variance;
    input.coalition_size =
        std::min(coalition_size_of(plan, graph.agents(), nullptr), between.agents() - 1);
    if (shares_by_groups(plan, mechanism))
        input.seed_groups = kept.size() == static_cast<std::size_t>(graph.agents()) ||
                                    is_seed_group_file(plan.seed_groups)
                                ? groups_between(configured_seed_groups(plan, graph), kept)
                                : configured_seed_groups(plan, between);
    return input;
}

bool averages_exactly(const PlanConfig* plan) {
    return plan != nullptr && !plan->plan_file &&
           find_mechanism("mechanism", plan->mechanism).aggregation == Aggregation::trusted_mean;
}

MixingMatrix designed_mixing(const PlanConfig* plan,
                             const Graph& graph,
                             std::span<const int> kept) {
    static Recent<MixingMatrix> recent;
    const Graph between = graph.induced_subgraph(kept);
    if (averages_exactly(plan)) return MixingMatrix::from_rule(between, MixingRule::metropolis);
    PlanConfig without;
    without.mechanism = "none";
    const MixingDesignInput input =
        mixing_input(plan != nullptr ? *plan : without, graph, kept, between);
    return recent.get(
        digest_of_input(input),
        [&] { return design_mixing(input).mixing; },
        [](const MixingMatrix& mixing) {
            return (sizeof(double) + sizeof(int)) *
                   static_cast<std::size_t>(mixing.sparse().nonZeros());
        });
}

/// Every connected part by itself.
MixingMatrix designed_in_parts(const PlanConfig* plan,
                               const Graph& graph,
                               std::span<const int> kept) {
    const Graph between = graph.induced_subgraph(kept);
    if (between.connected()) return designed_mixing(plan, graph, kept);
    const std::vector<int> part_of = between.components();
    const int parts = 1 + *std::ranges::max_element(part_of);
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(between.agents(), between.agents());
    for (int part = 0; part < parts; ++part) {
        std::vector<int> places, numbers;
        for (int place = 0; place < between.agents(); ++place) {
            if (part_of[static_cast<std::size_t>(place)] != part) continue;
            places.push_back(place);
            numbers.push_back(kept[static_cast<std::size_t>(place)]);
        }
        if (places.empty()) continue;
        dense(places, places) = designed_mixing(plan, graph, numbers).dense();
    }
    return MixingMatrix::from_dense(between, dense);
}

}  // namespace

MixingMatrix configured_mixing(const GraphConfig& config,
                               const PlanConfig* plan,
                               const Graph& graph,
                               std::span<const int> kept) {
    if (is_optimised(config)) return designed_in_parts(plan, graph, kept);
    std::error_code ignored;
    if (!is_mixing_rule(config.mixing) && !std::filesystem::exists(config.mixing, ignored)) {
        const ConfigError unknown =
            unknown_name_error("mixing", config.mixing, mixing_rule_names());
        throw ConfigError(fmt::format("{} (and there is no such file)", unknown.what()));
    }
    return make_mixing(graph.induced_subgraph(kept), config.mixing);
}

std::string note_on_mixing(const PlanConfig* plan) {
    const std::string made = "mixing weights are optimised for ";
    if (plan == nullptr)
        return made + "independent noise, utility " + name_of(PlanConfig{}.utility);
    if (plan->plan_file) return made + "the noise of " + *plan->plan_file;
    const Mechanism& mechanism = find_mechanism("mechanism", plan->mechanism);
    if (averages_exactly(plan))
        return fmt::format("mixing weights are not optimised: mechanism {} averages exactly",
                           mechanism.name);
    return fmt::format("{}{}, utility {}",
                       made,
                       mechanism.needs_budget ? "mechanism " + mechanism.name : "independent noise",
                       name_of(plan->utility));
}

}  // namespace sotto
