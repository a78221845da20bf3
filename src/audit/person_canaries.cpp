#include "audit/person_canaries.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "core/numbers.hpp"
#include "privacy/person_loss.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "sotto/views/view_sensitivity.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::string_view of_one_agent = "one agent";

/// The rounds alone, as they are recorded.
MessageProcess without_final_gossip(MessageProcess process) {
    process.final_gossip = 0;
    return process;
}

/// Against the sums of rounding, which differ between machines.
constexpr double clearly = 1 + 1e-9;

double form_of(const MatrixXd& gram, const VectorXd& sides) { return sides.dot(gram * sides); }

VectorXd best_of_all_sides(const MatrixXd& gram) {
    VectorXd best = VectorXd::Ones(gram.rows());
    const long count = 1L << (gram.rows() - 1);
    for (long bits = 1; bits < count; ++bits) {
        VectorXd sides = VectorXd::Ones(gram.rows());
        for (Index a = 1; a < sides.size(); ++a)
            if ((bits >> (a - 1) & 1) != 0) sides(a) = -1;
        if (form_of(gram, sides) > form_of(gram, best) * clearly) best = std::move(sides);
    }
    return best;
}

/// Single signs are turned while that helps.
VectorXd turned_sides(const MatrixXd& gram, VectorXd sides) {
    for (bool turned = true; turned;) {
        turned = false;
        for (Index a = 1; a < sides.size(); ++a) {
            VectorXd other = sides;
            other(a) = -other(a);
            if (form_of(gram, other) <= form_of(gram, sides) * clearly) continue;
            sides = std::move(other);
            turned = true;
        }
    }
    return sides;
}

VectorXd sides_by_turning(const MatrixXd& gram) {
    VectorXd best = turned_sides(gram, VectorXd::Ones(gram.rows()));
    for (const auto& row : gram.rowwise()) {
        VectorXd start = VectorXd::Ones(gram.rows());
        for (Index a = 0; a < start.size(); ++a)
            if (row(a) * row(0) < 0) start(a) = -1;
        VectorXd sides = turned_sides(gram, std::move(start));
        if (form_of(gram, sides) > form_of(gram, best) * clearly) best = std::move(sides);
    }
    return best;
}

double sensitivity_of_person(const AuditDesign& design) { return 2 * design.contribution; }

bool same(const Hypothesis& one, const Hypothesis& other) {
    const bool alike = one.signs == other.signs || one.signs == -other.signs;
    return alike && (one.sides == other.sides || one.sides == -other.sides);
}

/// Constant signs of the agent alone that shows most.
Hypothesis hypothesis_of_one(const PersonForm& form, const VectorXd& signs, std::size_t agents) {
    Hypothesis one{.name = std::string(of_one_agent), .signs = signs, .sides = {}};
    one.sides = VectorXd::Zero(static_cast<Index>(agents));
    Index most = 0;
    if (const auto gram = form.of_agents(signs))
        for (Index a = 1; a < one.sides.size(); ++a)
            if ((*gram)(a, a) > (*gram)(most, most) * clearly) most = a;
    one.sides(most) = 1;
    return one;
}

}  // namespace

PersonForm::PersonForm(const AuditSubject& subject, std::vector<int> agents)
    : agents_(std::move(agents)),
      rounds_(subject.process.rounds()),
      test_(without_final_gossip(subject.process), subject.view, VectorXd::Zero(1)) {}

std::optional<MatrixXd> PersonForm::of_agents(const VectorXd& signs) const {
    const auto shown =
        test_.responses(agents_, signs.replicate(1, static_cast<Index>(agents_.size())));
    if (shown.noiseless.size() > 0 && shown.noiseless.cwiseAbs().maxCoeff() > seen_without_noise)
        return std::nullopt;
    return shown.whitened.transpose() * shown.whitened;
}

std::optional<MatrixXd> PersonForm::of_rounds(const VectorXd& sides) const {
    MatrixXd shown;
    for (std::size_t a = 0; a < agents_.size(); ++a) {
        const std::vector<int> each(static_cast<std::size_t>(rounds_), agents_[a]);
        const auto own = test_.responses(each, MatrixXd::Identity(rounds_, rounds_));
        if (own.noiseless.size() > 0 && own.noiseless.cwiseAbs().maxCoeff() > seen_without_noise)
            return std::nullopt;
        const MatrixXd part = sides(static_cast<Index>(a)) * own.whitened;
        if (a == 0)
            shown = part;
        else
            shown += part;
    }
    return shown.transpose() * shown;
}

VectorXd worst_sides(const MatrixXd& gram) {
    constexpr Index most_tried = 16;
    return gram.rows() <= most_tried ? best_of_all_sides(gram) : sides_by_turning(gram);
}

std::vector<int> choose_person(const AuditConfig& config, const AuditSubject& subject) {
    const AccountSubject& account = *subject.account;
    const std::vector<int> outside =
        agents_outside(subject.view, subject.topography.graph.agents());
    const PlanConfig& plan = config.train.plan;
    require_possible_persons("--unit-agents",
                             plan.unit_agents,
                             subject.topography.graph.agents(),
                             account.plan.distribution(),
                             plan.participation);
    const std::vector<int> asked = asked_targets(config, subject, plan.unit_agents);
    if (!asked.empty()) return asked;
    const int most = std::min<int>(plan.unit_agents, static_cast<int>(outside.size()));
    const std::vector<std::vector<int>> members{subject.view.members};
    return worst_person(account.plan, members, {most, reach_of(account.exposures), {}}).agents;
}

std::vector<Hypothesis> choose_person_hypotheses(const std::vector<SignPattern>& wanted,
                                                 const AuditDesign& design,
                                                 const AuditSubject& subject) {
    const PersonForm form(subject, design.targets);
    const Participation& participation = subject.account->use.participation;
    const auto rounds = static_cast<Index>(subject.process.rounds());
    const VectorXd equal = VectorXd::Ones(static_cast<Index>(design.targets.size()));
    const auto sides_for = [&](const VectorXd& signs) {
        const auto gram = form.of_agents(signs);
        return gram ? worst_sides(*gram) : equal;
    };
    const VectorXd constant = make_signs(
        SignPattern::constant, form.of_rounds(equal), rounds, participation, design.seed);
    const auto gram = form.of_rounds(sides_for(constant));
    std::vector<Hypothesis> hypotheses;
    const auto add = [&](Hypothesis hypothesis) {
        if (std::ranges::none_of(hypotheses,
                                 [&](const auto& other) { return same(hypothesis, other); }))
            hypotheses.push_back(std::move(hypothesis));
    };
    for (const SignPattern pattern : wanted) {
        const VectorXd signs = make_signs(pattern, gram, rounds, participation, design.seed);
        add({.name = sign_patterns.name_of(pattern), .signs = signs, .sides = sides_for(signs)});
    }
    if (wanted.size() > 1 && design.targets.size() > 1)
        add(hypothesis_of_one(form, hypotheses.front().signs, design.targets.size()));
    return hypotheses;
}

Guarantee claim_of_person(const AuditDesign& design, const AuditSubject& subject) {
    const AccountSubject& account = *subject.account;
    PersonQuery person{
        static_cast<int>(design.targets.size()), VectorXd::Zero(account.plan.agents), {}};
    const VectorXd reach = reach_of(account.exposures);
    for (const int agent : design.targets) person.reach(agent) = reach(agent);
    const std::vector<std::vector<int>> members{subject.view.members};
    const WorstPerson worst = worst_person(account.plan, members, person);
    return guarantee_of_person(
        account.plan, account.exposures, design.unit_agents, worst.upper, account.delta);
}

AuditDesign accounted_for_person(AuditDesign design, const AuditSubject& subject) {
    const Guarantee claim = claim_of_person(design, subject);
    design.claim_mu = claim.loss.mu().value_or(not_a_number);
    design.claim_epsilon = claim.epsilon;
    design.argument = fmt::format("bound for {}: all messages seen", design.whom());
    const PersonForm form(subject, design.targets);
    for (Hypothesis& hypothesis : design.hypotheses) {
        const auto gram = form.of_agents(hypothesis.signs);
        const VectorXd sides = hypothesis.sides.size() > 0
                                   ? hypothesis.sides
                                   : VectorXd::Ones(static_cast<Index>(design.targets.size()));
        const double squared = gram ? form_of(*gram, sides) : infinity;
        hypothesis.mu_theory = sensitivity_of_person(design) * std::sqrt(std::max(squared, 0.0));
        hypothesis.epsilon_theory = gdp_epsilon(hypothesis.mu_theory, subject.account->delta);
        if (hypothesis.mu_theory > design.claim_mu * clearly)
            throw PrivacyError(fmt::format(
                "--unit-agents: hypothesis {} of {} shows mu {:.9g}, and the accountant claims "
                "{:.9g} for such a person: please report this with the options of the audit",
                hypothesis.name,
                design.whom(),
                hypothesis.mu_theory,
                design.claim_mu));
    }
    return design;
}

}  // namespace sotto
