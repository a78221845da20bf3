#include "audit/audit_design.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "audit/attack_statistics.hpp"
#include "audit/hypothesis_signs.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/privacy/gdp.hpp"
#include "sotto/privacy/guarantee.hpp"
#include "sotto/views/argument.hpp"
#include "sotto/views/view_losses.hpp"
#include "sotto/views/view_query.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double trials_without_mu = 1e4;
constexpr long most_trials = 200000;         // of all hypotheses, unless the user wants more
constexpr double most_message_values = 4e8;  // of all agents and rounds: 3.2 GB

bool is_gaussian(const AuditSubject& subject) {
    return subject.account->plan.distribution() == StreamDistribution::gaussian;
}

double sensitivity_of(const AuditSubject& subject, int agent) {
    return subject.account->exposures[static_cast<std::size_t>(agent)].sensitivity;
}

/// What the view learns of every target at most: mu, in units of its own sensitivity.
std::vector<double> largest_losses(const AuditSubject& subject,
                                   const std::vector<int>& targets,
                                   int threads) {
    ViewOptions options;
    options.threads = threads;
    std::vector<double> result;
    const auto losses =
        view_losses(subject.process, subject.account->use, subject.view, targets, options);
    for (std::size_t t = 0; t < targets.size(); ++t)
        result.push_back(sensitivity_of(subject, targets[t]) * std::sqrt(losses[t].certified()));
    return result;
}

/// Of the rounds, which is what recordings hold. Nothing where it is infinite, or where noise is
/// Laplace.
std::optional<MatrixXd> gram_of(const AuditSubject& subject, int target) {
    if (!is_gaussian(subject)) return std::nullopt;
    MessageProcess recorded = subject.process;
    recorded.final_gossip = 0;
    return view_gram(recorded, subject.view, target);
}

/// The agent that was asked for, else the one the view learns most about.
int choose_target(const AuditConfig& config, const AuditSubject& subject) {
    const int agents = subject.topography.graph.agents();
    std::vector<int> targets = agents_outside(subject.view, agents);
    if (config.target) {
        require_in_range("--target", *config.target, 0, agents - 1);
        if (std::ranges::binary_search(subject.view.members, *config.target))
            throw ConfigError(
                fmt::format("--target: agent {} is an observer of --view {} and knows its own data",
                            *config.target,
                            config.view));
        targets = {*config.target};
    }
    return most_exposed(targets, largest_losses(subject, targets, config.train.threads));
}

/// Without those that are the same up to their sign.
std::vector<Hypothesis> choose_hypotheses(const std::vector<SignPattern>& wanted,
                                          const std::optional<MatrixXd>& gram,
                                          const PlanConfig& plan,
                                          std::uint64_t seed) {
    std::vector<Hypothesis> hypotheses;
    for (const SignPattern pattern : wanted) {
        const VectorXd signs =
            make_signs(pattern, gram, static_cast<Index>(plan.rounds), plan.participation, seed);
        if (std::ranges::none_of(hypotheses, [&](const Hypothesis& other) {
                return other.signs == signs || other.signs == -signs;
            }))
            hypotheses.push_back({.name = sign_patterns.name_of(pattern), .signs = signs});
    }
    return hypotheses;
}

/// As many trials of every hypothesis as the interval needs where it is widest beside mu.
long choose_trials(const AuditConfig& config,
                   const std::vector<Hypothesis>& hypotheses,
                   int agents) {
    if (config.trials) {
        require_in_range("--trials", static_cast<double>(*config.trials), fewest_trials, 1e7);
        return *config.trials;
    }
    double each = 0;
    for (const Hypothesis& hypothesis : hypotheses)
        each = std::max(each,
                        std::isfinite(hypothesis.mu_theory) && hypothesis.mu_theory > 0
                            ? trials_for_width(hypothesis.mu_theory, config.width, config.level)
                            : trials_without_mu);
    const PlanConfig& plan = config.train.plan;
    const auto count = static_cast<double>(hypotheses.size());
    const double values = static_cast<double>(plan.rounds) * plan.gossip_steps * agents;
    each = std::min(each, std::min<double>(most_trials, most_message_values / values) / count);
    return static_cast<long>(std::max<double>(each, fewest_trials));
}

}  // namespace

AuditDesign design_audit(const AuditConfig& config, const AuditSubject& subject) {
    const auto wanted = parse_hypothesis(config.hypothesis);
    require_in_range("--width", config.width, 1e-4, 10);
    AuditDesign design;
    design.seed = config.train.task.seed;
    design.target = choose_target(config, subject);
    design.contribution = sensitivity_of(subject, design.target) / 2;
    design.hypotheses =
        choose_hypotheses(wanted, gram_of(subject, design.target), config.train.plan, design.seed);
    design = accounted(std::move(design), subject, config.train.threads);
    design.trials = choose_trials(config, design.hypotheses, subject.topography.graph.agents()) *
                    static_cast<long>(design.hypotheses.size());
    return design;
}

AuditDesign accounted(AuditDesign design, const AuditSubject& subject, int threads) {
    const AccountSubject& account = *subject.account;
    const Guarantee claim = guarantee_of(
        account.plan, largest_losses(subject, {design.target}, threads).front(), account.delta);
    design.claim_mu = claim.loss.mu().value_or(not_a_number);
    design.claim_epsilon = claim.epsilon;
    design.argument =
        argument_of(subject.view,
                    true,
                    counts_all_messages(subject.process, account.use.participation, subject.view))
            .text;
    const std::optional<MatrixXd> gram = gram_of(subject, design.target);
    const double unit = sensitivity_of(subject, design.target);
    for (Hypothesis& hypothesis : design.hypotheses) {
        if (!is_gaussian(subject)) {
            hypothesis.mu_theory = not_a_number;
            hypothesis.epsilon_theory = claim.epsilon;
            continue;
        }
        const double squared = gram ? hypothesis.signs.dot(*gram * hypothesis.signs) : infinity;
        hypothesis.mu_theory = unit * std::sqrt(squared);
        hypothesis.epsilon_theory = gdp_epsilon(hypothesis.mu_theory, account.delta);
    }
    return design;
}

}  // namespace sotto
