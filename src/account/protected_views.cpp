#include "account/protected_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "account/account_subject.hpp"
#include "core/text_input.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/views/view_losses.hpp"
#include "views/view_parameter.hpp"

namespace sotto {

namespace {

constexpr std::string_view of_nodes = "node:", of_sums = "secure-sum:";

std::string text_of(const ProtectedViews& views) {
    if (!views.partial()) return std::string(eavesdropper_view);
    return fmt::format(
        "{}{}", views.receives == View::Kind::secure_sum ? of_sums : of_nodes, views.agents);
}

void require_countable(const ProtectedViews& views, int agents) {
    if (views.agents >= agents)
        throw ConfigError(fmt::format(
            "protect-against: {} leaves nobody to protect (allowed: up to {} of {} agents)",
            text_of(views),
            agents - 1,
            agents));
    const double groups = count_coalitions(agents, views.agents);
    if (groups > most_protected_views)
        throw ConfigError(
            fmt::format("protect-against: {} are {:.0f} groups of observers, and every one is "
                        "examined (allowed: up to {:.0f}; for {} agents {}1)",
                        text_of(views),
                        groups,
                        most_protected_views,
                        agents,
                        views.receives == View::Kind::secure_sum ? of_sums : of_nodes));
}

double share_of_budget(const Exposure& exposure,
                       const SquaredSensitivity& squared,
                       const PrivacyBudget& budget) {
    const std::optional<double> mu = budget.limit.mu();
    if (!mu)
        throw ConfigError(
            "protect-against: only views of all messages are possible with noise that is not "
            "Gaussian, or rounds that are sampled in secret (allowed: eavesdropper)");
    return exposure.sensitivity * exposure.sensitivity * squared.certified() / (*mu * *mu);
}

}  // namespace

ProtectedViews parse_protected_views(std::string_view option, std::string_view text) {
    if (text == eavesdropper_view) return {};
    for (const auto& [prefix, kind] :
         {std::pair{of_nodes, View::Kind::neighbours}, {of_sums, View::Kind::secure_sum}})
        if (text.starts_with(prefix)) {
            const long long agents = parse_integer(std::string(option), text.substr(prefix.size()));
            require_in_range(std::string(option), static_cast<double>(agents), 1, 1e6);
            return {kind, static_cast<int>(agents)};
        }
    throw ConfigError(fmt::format(
        "{}: unknown observers '{}' (allowed: eavesdropper, node:q, secure-sum:q)", option, text));
}

std::string view_of(const ProtectedViews& views) {
    if (views.agents != 1) return {};
    return views.receives == View::Kind::secure_sum ? "all-secure-sums" : "all-nodes";
}

WorstProtectedView worst_protected_view(const ProtectedViews& views,
                                        const TrainConfig& config,
                                        const Topography& topography,
                                        const PrivacyPhase& phase,
                                        const std::vector<PrivacyBudget>& budgets,
                                        std::span<const int> targets) {
    const int agents = topography.graph.agents();
    require_countable(views, agents);
    const std::vector<PrivacyPhase> phases{phase};
    const std::vector<NoisePlan> plans = plans_by_number(phases);
    const SentRounds run = sent_rounds(config, topography, phases, plans, config.plan.rounds);
    ViewOptions options;
    options.threads = config.threads;
    options.tight_gap = gap_of_protection;
    WorstProtectedView worst;
    worst.shares.assign(static_cast<std::size_t>(agents), 0);
    for_each_coalition(agents, views.agents, [&](const std::vector<int>& members) {
        const View view{views.receives, members};
        if (counts_all_messages(run.process, phase.use.participation, view))
            throw ConfigError(
                "protect-against: with momentum, a correction, exchanges after the last round or "
                "rounds that are sampled in secret only the figures of all messages are known "
                "(allowed: eavesdropper)");
        std::vector<int> others;
        std::ranges::copy_if(
            targets, std::back_inserter(others), [&](int u) { return !view.has_member(u); });
        if (others.empty()) return;
        const auto squared = view_losses(run.process, phase.use, view, others, options);
        for (std::size_t t = 0; t < others.size(); ++t) {
            const double share = share_of_budget(
                run.exposure(others[t]), squared[t], budgets[static_cast<std::size_t>(others[t])]);
            if (!std::isfinite(share))
                throw PrivacyError(fmt::format(
                    "protect-against: {} can compute a noiseless function of the input of agent "
                    "{}, so no noise of this mechanism protects it (choose another mechanism, or "
                    "protect against the eavesdropper)",
                    label_of_observers(members),
                    others[t]));
            double& most = worst.shares[static_cast<std::size_t>(others[t])];
            most = std::max(most, share);
            if (share <= worst.share) continue;
            worst.share = share;
            worst.observers = members;
            worst.target = others[t];
        }
    });
    return worst;
}

}  // namespace sotto
