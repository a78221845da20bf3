#include "training/convex_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "account/account_subject.hpp"
#include "privacy/ledger_json.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "views/convex_view.hpp"

namespace sotto {

namespace {

[[noreturn]] void refuse_convex(std::string_view option,
                                const std::string& value,
                                std::string_view why,
                                std::string_view allowed) {
    throw ConfigError(fmt::format(
        "{}: {} is not possible with --feature-norm{} (allowed: {})", option, value, why, allowed));
}

/// Whether clipping leaves losses convex: a record's slope that is cut still grows, and a batch's
/// mean is no gradient once it is cut.
void require_convex_clip(const TrainConfig& config, const SettledPlan& plan, double norm) {
    if (plan.learn_clip)
        refuse_convex("clip-norm",
                      "learnt",
                      ", as the loss would change with the clip",
                      "a number, such as 1");
    if (!config.task.table.unit.empty())
        refuse_convex("unit-column",
                      config.task.table.unit,
                      ", as a person's mean gradient is clipped as one",
                      "records that are protected one by one");
    if (protects_agents(plan.adjacency) && !(plan.clip_norm >= norm))
        refuse_convex(
            "clip-norm",
            fmt::format("{:g}", plan.clip_norm),
            fmt::format(" {:g} and --adjacency {}, as a batch's gradient that is clipped "
                        "as a whole is not that of a convex loss",
                        norm,
                        name_of(plan.adjacency)),
            fmt::format("{:g} or more, which clips nothing, or --adjacency record", norm));
}

/// Whether agents do nothing but steps on the loss and plain gossip, as far as no MessageProcess
/// says it.
void require_plain_steps(const Run& run) {
    const TrainConfig& config = run.config;
    const SettledPlan& plan = run.phase;
    if (plan.local_steps != 1)
        refuse_convex("local-steps",
                      std::to_string(plan.local_steps),
                      ", whose sum of gradients is clipped as one",
                      "1");
    if (plan.precondition_every > 0)
        refuse_convex("precondition-every",
                      fmt::format("{}", plan.precondition_every),
                      ", which changes the steps",
                      "0");
    if (run.topography.mixing.push_sum())
        refuse_convex("mixing", "push-sum", ", which divides models", "metropolis");
    const MessagePrecision precision = config.precision.value_or(MessagePrecision::float64);
    if (precision != MessagePrecision::float64)
        refuse_convex("precision",
                      std::string(message_precisions.name_of(precision)),
                      ", as coarse rounding moves models apart",
                      "float64");
    if (config.misses_messages())
        refuse_convex(
            "round-deadline", "a deadline", ", as late messages change the mixing", "off");
    if (config.expects_lies() || config.robust.on())
        refuse_convex("robust",
                      "a rule",
                      ", which changes the mixing and assumes agents that break theirs",
                      "none");
}

/// The steps of all planned rounds. @throws ConfigError for one that is too long.
double largest_allowed_step(const ConvexLosses& convex, const StepSchedule& steps, long rounds) {
    const std::vector<double> all = steps.over(rounds);
    const double largest = std::ranges::max(all);
    if (!(largest * (convex.smoothness + 2 * convex.l2) <= 2))
        throw ConfigError(fmt::format(
            "step-size: a step of {:.6g} moves models apart with --feature-norm {:g} (allowed in "
            "every round: up to {:.6g}, 2 / (R^2 / 4 + 2 l2); a smaller --feature-norm allows "
            "longer steps)",
            largest,
            convex.feature_norm,
            convex.most_step()));
    return largest;
}

/// @throws ConfigError for a plan whose partial views have no bound.
void require_bounded_views(const Run& run) {
    if (run.members.size() != run.members.all) return;
    MessageProcess process;
    process.graph = &run.topography.graph;
    process.plan = &run.plan;
    process.phases = {{run.phase.rounds, run.topography.schedule(), {}}};
    set_exchanges(process, run.phase);
    require_convex_case("feature-norm", process, run.phase.participation);
}

}  // namespace

double curvature_of_logistic(double feature_norm) { return feature_norm * feature_norm / 4; }

std::optional<ConvexLosses> convex_losses(const Run& run,
                                          const LocalTask& task,
                                          std::span<const LocalAgent> agents) {
    const std::optional<double> norm = run.config.task.feature_norm;
    if (!norm) return std::nullopt;
    if (task.feature_norm != norm)
        refuse_convex("task",
                      run.config.task.task,
                      ", as its records are not those that sotto shortens",
                      "logistic");
    require_convex_clip(run.config, run.phase, *norm);
    require_plain_steps(run);
    require_bounded_views(run);
    for (const LocalAgent& agent : agents)
        if (agent.batches.largest_batch() > agent.batch_size)
            throw PrivacyError(
                fmt::format("feature-norm: agent {} may add up {} gradients and divide by {}, "
                            "which expands; please report this",
                            agent.number,
                            agent.batches.largest_batch(),
                            agent.batch_size));
    ConvexLosses convex{*norm, curvature_of_logistic(*norm), run.config.l2, 0};
    convex.largest_step =
        largest_allowed_step(convex, run.config.plan.steps, run.config.plan.rounds);
    return convex;
}

std::vector<std::string> convex_statements(const std::optional<ConvexLosses>& convex) {
    if (!convex) return {};
    return {fmt::format(
        "Losses are convex: every agent shortened its training records to at most {:g}, constant "
        "feature included, so that no loss has a curvature above {:g}, and no step is longer than "
        "{:g}, of at most {:g}. Then no step moves two models further apart, and figures of "
        "partial views hold for this training, as long as every agent outside the view keeps to "
        "it: one that does not may carry more to the observer. The headline holds in any case.",
        convex->feature_norm,
        convex->smoothness,
        convex->largest_step,
        convex->most_step())};
}

void require_convex_stated(const JsonValue& ledger, const std::optional<ConvexLosses>& own) {
    constexpr double rounding = 1e-9;
    const std::optional<ConvexLosses> stated = convex_from_json(ledger);
    if (stated.has_value() != own.has_value())
        throw DataError(own ? "it does not state the convex losses that this agent enforces"
                            : "it states convex losses, which this agent does not enforce");
    if (!own) return;
    if (stated->feature_norm != own->feature_norm || stated->smoothness != own->smoothness ||
        stated->l2 != own->l2 ||
        !(std::abs(stated->largest_step - own->largest_step) <= rounding * own->largest_step))
        throw DataError(
            fmt::format("it states convex losses with feature norm {:g}, smoothness {:g}, l2 {:g} "
                        "and steps up to {:g}, and this agent enforces {:g}, {:g}, {:g} and {:g}",
                        stated->feature_norm,
                        stated->smoothness,
                        stated->l2,
                        stated->largest_step,
                        own->feature_norm,
                        own->smoothness,
                        own->l2,
                        own->largest_step));
}

}  // namespace sotto
