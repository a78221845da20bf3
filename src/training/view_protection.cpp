#include "training/view_protection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "planning/budgets.hpp"
#include "planning/planning.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "tasks/task.hpp"
#include "views/view_parameter.hpp"

namespace sotto {

namespace {

/// The worst of the views that are protected against, with this plan and these exposures and
/// budgets of everybody. @param targets ascending.
WorstProtectedView worst_view_of(const ProtectedViews& views,
                                 const NoisePlan& plan,
                                 const CountedRounds& counted,
                                 const AgreedPhase& phase,
                                 const TrainConfig& config,
                                 const Participants& there,
                                 std::span<const int> targets) {
    PrivacyPhase whole = first_phase(plan,
                                     counted.exposures,
                                     plan_use(phase.config, there.topography.mixing),
                                     phase.config.rounds);
    whole.members = there.members;
    return worst_protected_view(views, config, there.topography, whole, counted.budgets, targets);
}

void require_possible_protection(const TrainConfig& config, const Network& network) {
    const ProtectedViews views = parse_protected_views("protect-against", config.protect_against);
    if (!views.partial()) return;
    const auto refuse = [&](const std::string& why) {
        throw ConfigError(fmt::format("protect-against: {} is not possible {} (allowed: {})",
                                      config.protect_against,
                                      why,
                                      eavesdropper_view));
    };
    if (!has_fixed_inputs(config.task))
        refuse(
            fmt::format("with task {}, whose gradients depend on messages: what an observer does "
                        "not see, other agents' gradients carry on to it, so that a partial view "
                        "bounds nothing; it needs --task averaging",
                        config.task.task));
    if (config.plan.noise_std) refuse("with --noise-std, which promises no epsilon");
    if (config.plan.unit_agents > 1)
        refuse("with --unit-agents, since figures of partial views are of one agent's input");
    if (config.resume) refuse("for a run that is resumed");
    if (views.receives == View::Kind::secure_sum && !config.secure_sum)
        refuse("without --secure-sum on, as agents then see every message of their neighbours");
    if (!config.link_encryption && network.processes() > 1)
        refuse("with --link-encryption off, as the network then sees every message");
}

}  // namespace

void protect_views(TrainConfig& config, Network& network) {
    network.agree([&] { require_possible_protection(config, network); });
    const std::string view =
        view_of(parse_protected_views("protect-against", config.protect_against));
    if (view.empty() || config.views.find(view) != std::string::npos) return;
    if (!config.views.empty()) config.views += ';';
    config.views += view;
}

void fit_to_views(const ProtectedViews& views,
                  AgreedPhase& phase,
                  const TrainConfig& config,
                  const Participants& there) {
    if (!phase.planned || !phase.planned->solved) return;
    constexpr int most_plans = 10;
    constexpr double worthwhile = 0.995;  // of the noise before
    // What somebody who sees all messages learns of an agent, in mu^2 beside that of another: a
    // second line of defence.
    constexpr double most_more = 4;
    std::vector<double> more(phase.budgets.size(), 1);
    PlannedNoise trial = *phase.planned;
    double least = infinity;
    for (int k = 0; k < most_plans; ++k) {
        const CountedPlan counted = count_plan(
            trial.design.plan, phase.config, there.topography, {phase.exposures, phase.budgets});
        const WorstProtectedView worst = worst_view_of(
            views, trial.design.plan, counted, phase, config, there, there.members.numbers);
        // Objectives are stated for a smallest kappa of 1.
        const double left = trial.design.objective / trial.kappa.minCoeff() * worst.share;
        if (left > worthwhile * least) return;
        least = left;
        phase.planned = trial;
        NoisePlan& plan = phase.planned->design.plan;
        plan = scaled(std::move(plan), std::sqrt(worst.share));
        for (std::size_t u = 0; u < more.size(); ++u)
            more[u] *= worst.share / std::max(worst.shares[u], worst.share / most_more);
        const double smallest = std::ranges::min(more);
        CountedRounds larger{phase.exposures, phase.budgets};
        for (std::size_t u = 0; u < more.size(); ++u) {
            more[u] = std::min(more[u] / smallest, most_more);
            larger.budgets[u].limit = larger.budgets[u].limit.scaled(more[u]);
        }
        trial = plan_noise(phase.config, there.topography, larger);
    }
}

void take_budgets_of_views(const ProtectedViews& views,
                           AgreedPhase& phase,
                           const TrainConfig& config,
                           const Participants& there,
                           std::span<const int> local,
                           int coalition_size) {
    constexpr double tolerance = 1e-9;
    const CountedRounds counted{phase.exposures, phase.budgets};
    const WorstProtectedView worst =
        worst_view_of(views, phase.plan, counted, phase, config, there, local);
    const PrivacyBudget& budget = phase.budgets[static_cast<std::size_t>(worst.target)];
    if (!(worst.share <= 1 + tolerance))
        throw PrivacyError(
            fmt::format("agent {}: {} would learn {:.6g} times the squared loss that epsilon {} "
                        "allows (--protect-against {}); use a plan with more noise",
                        worst.target,
                        label_of_observers(worst.observers),
                        worst.share,
                        budget.epsilon,
                        config.protect_against));
    phase.protected_views = fmt::format(
        "The noise protects every input against {} with the epsilon asked for. The headline is of "
        "somebody who sees all messages. Not counted are the models that rank 0 collects from all "
        "agents for its figures.",
        config.protect_against);
    const Eigen::VectorXd precision = coalition_precision(phase.plan, coalition_size);
    for (std::size_t u = 0; u < phase.budgets.size(); ++u)
        phase.run_budgets[u] = phase.budgets[u] =
            budget_spent_by(loss_of(phase.plan.distribution(),
                                    phase.exposures[u],
                                    precision(static_cast<Eigen::Index>(u))),
                            phase.plan.distribution(),
                            phase.config.delta);
}

}  // namespace sotto
