#include "planning/gossip_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "planning/agreed_choice.hpp"
#include "planning/configured_gossip.hpp"
#include "planning/planning.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

constexpr double near_enough = 1.1;
constexpr double little_disagreement = 0.01;

/// Of all messages, where agents exchange once a round.
double bytes_of(const PlanConfig& config, const Topography& topography, double message_bytes) {
    return message_bytes * static_cast<double>(config.rounds) *
           static_cast<double>(topography.graph.messages());
}

PlanConfig with_gossip_steps(PlanConfig config, int steps) {
    config.choose_gossip_steps = false;
    config.gossip_steps = steps;
    return config;
}

/// Plans of one K after the other, each solved once.
class GossipPlans {
  public:
    GossipPlans(const PlanConfig& config,
                const Topography& topography,
                const std::vector<Eigen::Index>& records,
                double message_bytes)
        : config_(config),
          topography_(topography),
          records_(records),
          bytes_a_step_(bytes_of(config, topography, message_bytes)) {}

    const GossipCandidate& at(int steps) {
        const auto known = candidates_.find(steps);
        if (known != candidates_.end()) return known->second;
        const PlannedNoise planned = plan_before_start(
            with_gossip_steps(config_, steps), topography_, records_, candidates_.empty());
        if (candidates_.empty()) trusted_ = planned.cdp_objective;
        return candidates_
            .emplace(steps, GossipCandidate{steps, planned.design.objective, steps * bytes_a_step_})
            .first->second;
    }
    [[nodiscard]] double trusted() const { return trusted_; }
    [[nodiscard]] double bytes_a_step() const { return bytes_a_step_; }
    [[nodiscard]] std::vector<GossipCandidate> all() const {
        std::vector<GossipCandidate> result;
        for (const auto& [steps, candidate] : candidates_) result.push_back(candidate);
        return result;
    }

  private:
    const PlanConfig& config_;
    const Topography& topography_;
    const std::vector<Eigen::Index>& records_;
    double bytes_a_step_;
    double trusted_ = 0;
    std::map<int, GossipCandidate> candidates_;
};

/// Of what --max-bytes leaves. @throws ConfigError where it does not leave one step.
int most_steps(const PlanConfig& config, double bytes_a_step) {
    if (!config.max_bytes) return most_gossip_steps;
    const double steps = *config.max_bytes / bytes_a_step;
    if (!(steps >= 1))
        throw ConfigError(
            fmt::format("max-bytes: {:g} is less than one exchange a round sends, {:g} (allowed: "
                        "at least that, or fewer --rounds)",
                        *config.max_bytes,
                        bytes_a_step));
    return static_cast<int>(std::min<double>(steps, most_gossip_steps));
}

}  // namespace

GossipChoice choose_gossip_steps(const PlanConfig& config,
                                 const Topography& topography,
                                 const std::vector<Eigen::Index>& records,
                                 double message_bytes) {
    GossipChoice choice;
    if (config.plan_file || !mixes_hidden_models(config) ||
        !find_mechanism("mechanism", config.mechanism).needs_budget ||
        topography.graph.agents() < 2)
        return choice;
    GossipPlans plans(config, topography, records, message_bytes);
    const int most = most_steps(config, plans.bytes_a_step());
    const int enough = consensus_steps(topography.mixing, config.gossip, little_disagreement, most);
    const double reached = plans.at(1).noise;
    choice.trusted = plans.trusted();
    choice.wanted = near_enough * choice.trusted;
    int below = 0, above = 1;  // the least K that is enough lies above `below`, up to `above`
    if (!(reached <= choice.wanted)) {
        choice.wanted = std::max(choice.wanted, near_enough * plans.at(enough).noise);
        for (; above < enough && !(plans.at(above).noise <= choice.wanted);
             above = std::min(2 * above, enough))
            below = above;
    }
    while (above - below > 1) {
        const int middle = (below + above) / 2;
        (plans.at(middle).noise <= choice.wanted ? above : below) = middle;
    }
    choice.chosen = above;
    choice.limited = !(plans.at(above).noise <= near_enough * choice.trusted) && enough == most;
    choice.candidates = plans.all();
    return choice;
}

std::vector<GossipCandidate> compare_gossip_steps(const PlanConfig& config,
                                                  const Topography& topography,
                                                  const std::vector<Eigen::Index>& records,
                                                  double message_bytes) {
    GossipPlans plans(config, topography, records, message_bytes);
    for (const int steps : {1, 2, 4, 8}) (void)plans.at(steps);
    return plans.all();
}

AgreedGossip agree_on_gossip(PlanConfig config,
                             Network& network,
                             const Topography& topography,
                             const std::vector<Eigen::Index>& records,
                             long dimension,
                             bool solves) {
    GossipChoice choice;
    const bool open = config.choose_gossip_steps;
    network.agree([&] {
        require_possible_smoothing(config, topography);
        if (solves && open)
            choice = choose_gossip_steps(
                config,
                topography,
                records,
                static_cast<double>(dimension) *
                    static_cast<double>(value_size(network.message_precision())));
    });
    const std::string said =
        agree_on_choice(network,
                        {"K", "--gossip-steps auto", "--gossip-steps K"},
                        open,
                        solves && open ? std::to_string(choice.chosen) : std::string());
    network.agree([&] {
        if (said.empty()) return;
        const auto steps = static_cast<int>(parse_integer("gossip-steps", said));
        require_in_range("gossip-steps", steps, 1, most_gossip_steps);
        config = with_gossip_steps(std::move(config), steps);
    });
    return {std::move(config), std::move(choice)};
}

std::string text_of(const GossipChoice& choice) {
    if (choice.candidates.empty()) return {};
    const auto chosen = std::ranges::find(
        choice.candidates, choice.chosen, [](const GossipCandidate& c) { return c.steps; });
    return fmt::format("K = {}: noise {:.3g} times the trusted aggregator's, {:.3g} with K = 1{}",
                       choice.chosen,
                       chosen->noise / choice.trusted,
                       choice.candidates.front().noise / choice.trusted,
                       choice.limited ? " (more exchanges than --max-bytes, or 256, allow would "
                                        "leave less)"
                                      : "");
}

}  // namespace sotto
