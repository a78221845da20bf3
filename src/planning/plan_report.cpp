#include "planning/plan_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "planning/noise_schedule.hpp"
#include "planning/person_noise.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

constexpr int most_agents_for_pairs = 128;  // n eigendecompositions stay well under a second

std::string plan_line(const PlannedNoise& planned, const PlanConfig& config) {
    const NoisePlan& plan = planned.design.plan;
    return fmt::format(
        "plan       {} for {} agent{}{}{}\n",
        plan.mechanism,
        plan.agents,
        plan.agents == 1 ? "" : "s",
        config.covariance_file ? fmt::format(" with that of {}", *config.covariance_file)
                               : std::string(),
        planned.solved                      ? fmt::format(", solved in {:.3g} s", planned.seconds)
        : config.plan_file && !planned.kept ? fmt::format(", from {}", *config.plan_file)
                                            : ", of the run's directory");
}

/// The epsilon, or the smallest and largest of agents with budgets of their own.
std::string budgets_text(const std::vector<PrivacyBudget>& budgets) {
    const auto [least, most] = std::ranges::minmax(budgets, {}, &PrivacyBudget::epsilon);
    if (least.epsilon == most.epsilon) return text_of(most);
    return fmt::format("from {} to {}", text_of(least), text_of(most));
}

std::string budget_line(const std::vector<PrivacyBudget>& budgets, const PlanConfig& config) {
    return fmt::format("budget     {}; adjacency {}, participation {}, {} rounds{}\n",
                       budgets_text(budgets),
                       name_of(config.adjacency),
                       name_of(config.participation),
                       config.rounds,
                       config.gossip_steps > 1
                           ? fmt::format(" of {} gossip steps", config.gossip_steps)
                           : std::string());
}

/// What agents contribute, unless it is one gradient per round.
std::string updates_line(const PlanConfig& config) {
    std::vector<std::string> parts;
    if (config.local_steps > 1) parts.push_back(fmt::format("{} local steps", config.local_steps));
    if (config.client_probability)
        parts.push_back(fmt::format("agents take part with probability {:g}, divided by it",
                                    *config.client_probability));
    return parts.empty() ? std::string() : fmt::format("updates    {}\n", fmt::join(parts, "; "));
}

/// The smoothing beside one mixing per round, if any.
std::string smoothing_line(const PlanConfig& config, double laziness) {
    std::vector<std::string> parts;
    if (config.correction != Correction::none)
        parts.push_back(fmt::format(
            "correction {}{}",
            name_of(config.correction),
            laziness > 0
                ? fmt::format(", with mixing {:.3g} of the way to the own message", laziness)
                : std::string()));
    if (config.gossip == GossipRule::optimal ||
        (config.gossip != GossipRule::plain && config.gossip_steps > 1))
        parts.push_back(fmt::format("gossip {}", name_of(config.gossip)));
    if (config.momentum > 0) parts.push_back(fmt::format("momentum {:g}", config.momentum));
    if (config.precondition_every > 0)
        parts.push_back(
            fmt::format("a preconditioner renewed every {} rounds", config.precondition_every));
    if (!config.average.none()) parts.push_back(fmt::format("average {}", name_of(config.average)));
    if (!config.final_gossip)
        parts.emplace_back("final gossip auto");
    else if (*config.final_gossip > 0)
        parts.push_back(fmt::format("{} exchanges of final gossip", *config.final_gossip));
    if (parts.empty()) return {};
    return fmt::format("after      {}: no loss of privacy; included in the noise left\n",
                       fmt::join(parts, ", "));
}

std::string cycle_line(const CycleChoice& choice) {
    return choice.candidates.empty() ? std::string()
                                     : fmt::format("cycle      {}\n", text_of(choice));
}

std::string temporal_line(const ShapeChoice& choice) {
    return choice.keeps_all() ? std::string() : fmt::format("rounds     {}\n", text_of(choice));
}

std::string schedule_line(const PlanConfig& config) {
    const std::string text = schedule_text(config);
    return text.empty() ? text : fmt::format("schedule   {}\n", text);
}

std::string gossip_line(const GossipChoice& choice) {
    return choice.candidates.empty() ? std::string()
                                     : fmt::format("gossip     {}\n", text_of(choice));
}

/// Bytes in a suitable unit.
std::string bytes_text(double bytes) {
    for (const char* unit : {"B", "kB", "MB", "GB"}) {
        if (bytes < 1000) return fmt::format("{:.3g} {}", bytes, unit);
        bytes /= 1000;
    }
    return fmt::format("{:.3g} TB", bytes);
}

std::string noise_line(const NoisePlan& plan, double clip_norm) {
    const Eigen::VectorXd variances = largest_message_variance(plan);
    return fmt::format(
        "noise      std {:.4g} to {:.4g} per coordinate, on {} clipped to {:g}{}; at most {} "
        "stream{} per agent\n",
        plan.aggregation == Aggregation::trusted_mean ? std::sqrt(variances.maxCoeff())
                                                      : std::sqrt(variances.minCoeff()),
        std::sqrt(variances.maxCoeff()),
        plan.entry == NoiseEntry::gradient ? "gradients" : "messages, whose gradients are",
        clip_norm,
        plan.distribution() == StreamDistribution::laplace ? " in L1 norm" : "",
        plan.streams_per_agent(),
        plan.streams_per_agent() == 1 ? "" : "s");
}

std::string survives_lines(const PlannedNoise& planned) {
    const double objective = planned.design.objective;
    if (!std::isfinite(objective)) return {};
    return fmt::format(
        "noise left {:.6g} (utility {}, at kappa 1); ldp {:.6g}, trusted aggregator {:.6g}\n       "
        "    {:.3g} times less than ldp, {:.3g} times the trusted aggregator's\n",
        objective,
        name_of(planned.utility),
        planned.ldp_objective,
        planned.cdp_objective,
        planned.ldp_objective / objective,
        objective / planned.cdp_objective);
}

std::string optimal_line(const Design& design, const PlanConfig& config) {
    const double variance_cap = config.variance_cap;
    if (!std::isfinite(design.lower_bound)) return {};
    if (config.unit_agents > 1)
        return "optimal    the best correlation for persons at one agent, with more noise for "
               "those at "
               "several\n";
    if (design.objective_error > 0)
        return fmt::format(
            "optimal    estimated to {:.2g} relative, +- {:.2g} (noise left and bound from random "
            "probes;\n           the limit of every agent is certified from its neighbourhood)\n",
            std::max(0.0, design.relative_gap()),
            design.objective_error / design.objective);
    return fmt::format("optimal    certified to {:.2g} relative{}\n",
                       std::max(0.0, design.relative_gap()),
                       design.capped
                           ? fmt::format(" (R_uu is capped at {:g}/kappa: without a cap the "
                                         "optimum would diverge)",
                                         variance_cap)
                           : "");
}

/// The observer's loss and its parameter: "epsilon 9.7 (mu 1.9)".
std::string reached_text(const Guarantee& reached) {
    std::string text = fmt::format("epsilon {:.6g}", reached.epsilon);
    if (reached.infinite()) return text;
    const std::string parameter = parameter_text(reached.loss);
    return parameter.starts_with("epsilon") ? text : fmt::format("{} ({})", text, parameter);
}

std::string protected_line(const Guarantee& reached) {
    return fmt::format("protected  against an eavesdropper on all messages: every agent, {}\n",
                       reached_text(reached));
}

std::string coalition_line(const NoisePlan& plan,
                           const std::vector<Exposure>& exposures,
                           double delta) {
    if (plan.coalition_size == 0) return {};
    const bool one = plan.coalition_size == 1;
    return fmt::format(
        "           and against any {} of them who see{} all messages too: {}\n",
        one ? std::string("one") : std::to_string(plan.coalition_size),
        one ? "s" : "",
        reached_text(largest(coalition_guarantees(plan, plan.coalition_size, exposures, delta))));
}

/// Persons with records at several agents, if the budget is theirs.
std::string persons_line(const NoisePlan& plan,
                         const PlanConfig& config,
                         const std::vector<Exposure>& exposures,
                         double delta) {
    const std::optional<PersonFigure> figure = person_figure(plan, config, exposures, delta);
    return figure ? fmt::format("persons    {}\n", text_of(*figure)) : std::string();
}

std::string curious_line(const NoisePlan& plan,
                         const std::vector<Exposure>& exposures,
                         double delta) {
    if (plan.agents < 2 || plan.agents > most_agents_for_pairs) return {};
    const auto worst = worst_curious_agent(plan, exposures, delta);
    if (worst->guarantee.infinite())
        return fmt::format(
            "curious    NOT protected: agent {} can remove all noise of agent {} (epsilon "
            "infinite)\n",
            worst->observer,
            worst->target);
    return fmt::format("curious    agent {} learns most, about agent {}: epsilon {:.6g}\n",
                       worst->observer,
                       worst->target,
                       worst->guarantee.epsilon);
}

std::string noise_lines(const PlannedNoise& planned,
                        const PlanConfig& config,
                        const std::vector<Exposure>& exposures,
                        const std::vector<PrivacyBudget>& budgets) {
    const NoisePlan& plan = planned.design.plan;
    if (plan.noiseless()) return "noise      none: epsilon is infinite\n";
    const double delta = budgets.front().delta;
    const Guarantee reached = largest(guarantees(plan, {}, exposures, delta));
    return budget_line(budgets, config) + cycle_line(planned.choices.cycle) +
           temporal_line(planned.choices.temporal) + schedule_line(config) +
           gossip_line(planned.choices.gossip) + updates_line(config) +
           smoothing_line(config, planned.laziness) + noise_line(plan, config.clip_norm) +
           survives_lines(planned) + optimal_line(planned.design, config) +
           protected_line(reached) + coalition_line(plan, exposures, delta) +
           persons_line(plan, config, exposures, delta) + curious_line(plan, exposures, delta);
}

std::string epsilon_words(const std::vector<PrivacyBudget>& budgets) {
    const auto [least, most] = std::ranges::minmax(budgets, {}, &PrivacyBudget::epsilon);
    return fmt::format(
        "epsilon {:.4g}{} at delta {:g}",
        least.epsilon,
        least.epsilon == most.epsilon ? std::string() : fmt::format(" to {:.4g}", most.epsilon),
        stated_delta(most.noise, most.delta));
}

/// Explains "times": a ratio of variances, as in the report.
std::string noise_words(const PlannedNoise& planned) {
    const double objective = planned.design.objective;
    if (planned.design.plan.noiseless() || !std::isfinite(objective) ||
        !(planned.cdp_objective > 0) || !(planned.ldp_objective > 0))
        return {};
    const double more = objective / planned.cdp_objective, less = planned.ldp_objective / objective;
    constexpr double alike = 1.05;
    return (more < alike ? std::string("variance as with a trusted server")
                         : fmt::format("variance {:.3g} times that of a trusted server", more)) +
           (less < alike
                ? std::string(", as much as noise drawn independently")
                : fmt::format("; noise drawn independently has {:.3g} times as much", less));
}

std::string observers_words(const NoisePlan& plan) {
    if (plan.aggregation == Aggregation::trusted_mean)
        return "whoever sees the means of all messages; agent 0 is trusted with the messages";
    const std::string outsider = "whoever sees all messages";
    const bool own_noise_only = std::ranges::all_of(
        plan.groups, [](const SeedGroup& group) { return group.members.size() == 1; });
    if (own_noise_only)
        return plan.agents == 1 ? outsider : outsider + ", including all other agents together";
    if (plan.coalition_size == 0)
        return outsider + "; an agent who does may learn more, even everything (ledger.json)";
    return outsider + (plan.coalition_size == 1 ? std::string(", including any one agent")
                                                : fmt::format(", including any {} agents together",
                                                              plan.coalition_size));
}

/// Link time of the agent with most neighbours at a gigabit per second and a fifth of a millisecond
/// per exchange.
double link_seconds(int steps, long rounds, int degree, long dimension) {
    constexpr double seconds_an_exchange = 2e-4, bytes_a_second = 1e9 / 8;
    const double bytes = 8.0 * static_cast<double>(dimension) * degree;
    return static_cast<double>(steps) * static_cast<double>(rounds) *
           (seconds_an_exchange + bytes / bytes_a_second);
}

}  // namespace

PlanWords plan_words(const PlannedNoise& planned,
                     const PlanConfig& config,
                     const std::vector<PrivacyBudget>& budgets,
                     const std::string& unit) {
    const NoisePlan& plan = planned.design.plan;
    PlanWords words;
    words.noise = noise_words(planned);
    words.privacy = fmt::format("{}, against {}",
                                protected_unit(config.adjacency, unit, config.unit_agents),
                                observers_words(plan));
    words.plan = fmt::format("{}, {} agent{}, {} rounds: {}",
                             plan.mechanism,
                             plan.agents,
                             plan.agents == 1 ? "" : "s",
                             config.rounds,
                             plan.noiseless()
                                 ? std::string("NO privacy, since no noise is added")
                                 : fmt::format("{} for {}", epsilon_words(budgets), words.privacy));
    return words;
}

std::string gossip_costs_text(const PlannedNoise& planned,
                              const Topography& topography,
                              long rounds,
                              long dimension) {
    if (planned.gossip_costs.empty()) return {};
    int degree = 0;
    for (int u = 0; u < topography.graph.agents(); ++u)
        degree = std::max(degree, topography.graph.degree(u));
    std::string text = fmt::format(
        "steps      by --gossip-steps: noise (times the trusted aggregator's), bytes of all agents "
        "in {} rounds of {} parameter{} in float64 (nibble: about a sixteenth), time of exchanges "
        "at 1 Gbit/s and 0.2 ms\n",
        rounds,
        dimension,
        dimension == 1 ? "" : "s");
    for (const GossipCandidate& candidate : planned.gossip_costs)
        text += fmt::format("           K = {}: {:8.4g} ({:.3g}), {:>8}, {:.3g} s\n",
                            candidate.steps,
                            candidate.noise,
                            candidate.noise / planned.cdp_objective,
                            bytes_text(candidate.bytes),
                            link_seconds(candidate.steps, rounds, degree, dimension));
    return text;
}

std::string plan_report_text(const PlannedNoise& planned,
                             const PlanConfig& config,
                             const std::vector<Exposure>& exposures,
                             const std::vector<PrivacyBudget>& budgets,
                             const std::vector<std::string>& statements) {
    std::string text =
        plan_line(planned, config) + noise_lines(planned, config, exposures, budgets);
    for (const auto& statement : statements) text += "note       " + statement + "\n";
    return text;
}

namespace {

bool asks_for_updates(const PlanConfig& config) {
    return config.local_steps > 1 || config.client_probability;
}

/// @param otherwise what is allowed besides omitting the option.
[[noreturn]] void refuse_updates(const PlanConfig& config,
                                 const std::string& with,
                                 const std::string& otherwise) {
    const bool steps = config.local_steps > 1;
    throw ConfigError(fmt::format(
        "{} is not possible with {} (allowed: {}{})",
        steps ? fmt::format("local-steps: {}", config.local_steps)
              : fmt::format("client-probability: {}", config.client_probability.value_or(1)),
        with,
        steps ? "1" : "all agents in every round",
        otherwise));
}

void require_clients_that_come_and_go(const PlanConfig& config) {
    if (!config.client_probability) return;
    if (config.adjacency != Adjacency::agent_zero_out)
        throw ConfigError(fmt::format(
            "client-probability: {} is not possible with adjacency {}, of which nothing is proved "
            "where agents are sampled (allowed: agent-zero-out)",
            *config.client_probability,
            name_of(config.adjacency)));
    if (!config.participation.poisson)
        throw ConfigError(fmt::format(
            "client-probability: {} is not possible with participation {} (allowed: poisson)",
            *config.client_probability,
            name_of(config.participation)));
}

}  // namespace

void require_possible_updates(const PlanConfig& config) {
    const Mechanism& mechanism = find_mechanism("mechanism", config.mechanism);
    if (mechanism.local_updates && config.gossip_steps > 1)
        throw ConfigError(
            fmt::format("gossip-steps: {} is not possible with mechanism {}, whose server takes "
                        "one mean per round (allowed: 1)",
                        config.gossip_steps,
                        mechanism.name));
    if (!asks_for_updates(config)) return;
    if (!mechanism.local_updates)
        refuse_updates(
            config,
            fmt::format("mechanism {}, which is not federated averaging", mechanism.name),
            fmt::format("; or mechanism {}",
                        join(mechanisms_with(&Mechanism::local_updates), ", ")));
    if (!protects_agents(config.adjacency))
        refuse_updates(config,
                       fmt::format("adjacency {}, where gradients of records are clipped, which "
                                   "are all taken at one model",
                                   name_of(config.adjacency)),
                       "; or agent, agent-zero-out");
    if (config.learn_clip)
        refuse_updates(config, "--clip-norm learnt", "; or a clip that is a number");
    require_clients_that_come_and_go(config);
}

void require_possible_updates(const TrainConfig& config, const LocalTask& task) {
    if (config.pad_rounds && config.plan.client_probability)
        throw ConfigError(
            "--pad-rounds: not possible with --client-probability, where it is not records that "
            "are sampled");
    if (asks_for_updates(config.plan) &&
        (task.fixed_inputs || task.coordinates || task.rows_are_rounds))
        refuse_updates(config.plan, "a task whose gradients are its data", "");
}

}  // namespace sotto
