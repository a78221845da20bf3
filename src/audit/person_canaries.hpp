#pragma once

#include <Eigen/Dense>
#include <optional>
#include <string>
#include <vector>

#include "audit/audit_job.hpp"
#include "audit/audit_subject.hpp"
#include "audit/canaries.hpp"
#include "sotto/privacy/budget.hpp"
#include "views/view_innovations.hpp"

namespace sotto {

// Canaries of a person with records at several agents S (--unit-agents K): what all of them send
// changes at once, the same in every one of their agents but for a factor sigma_a.

/// What a view shows of the contributions of some agents in the rounds of a run, for unit
/// contributions, in squared standard deviations of its noise.
class PersonForm {
  public:
    /// @param subject must outlive the object.  @throws as ViewInnovations.
    PersonForm(const AuditSubject& subject, std::vector<int> agents);

    /// <W_a s, W_b s> of agents a and b that contribute s_t; nothing where some of it has no noise.
    /// Cost of ViewInnovations::responses to so many agents.
    [[nodiscard]] std::optional<Eigen::MatrixXd> of_agents(const Eigen::VectorXd& signs) const;
    /// Rounds x rounds, of agents that contribute sigma_a g(t): sum_ab sigma_a sigma_b <W_a,t,
    /// W_b,t'>; nothing where some of it has no noise. Cost as of rounds x agents responses.
    [[nodiscard]] std::optional<Eigen::MatrixXd> of_rounds(const Eigen::VectorXd& sides) const;

  private:
    std::vector<int> agents_;
    Eigen::Index rounds_;
    ViewInnovations test_;
};

/// sigma in {-1, 1} with the largest sigma^T Gram sigma, the first one +1: all are tried for up to
/// 16 agents, otherwise single signs are turned while that helps, from +1 and from the signs of
/// every row on.
[[nodiscard]] Eigen::VectorXd worst_sides(const Eigen::MatrixXd& gram);

/// The agents of config.targets, or those of the person that somebody who sees all messages and has
/// the seeds of the view's members learns most about (worst_person).
/// @throws ConfigError as require_possible_persons and asked_targets.
[[nodiscard]] std::vector<int> choose_person(const AuditConfig& config,
                                             const AuditSubject& subject);

/// constant, random and worst signs over rounds, each with the worst sides, and for several of them
/// "one agent": constant signs of the one agent alone that the view learns most about.
[[nodiscard]] std::vector<Hypothesis> choose_person_hypotheses(
    const std::vector<SignPattern>& wanted, const AuditDesign& design, const AuditSubject& subject);

/// Certified for this person: all messages seen, with the seeds of the view's members.
[[nodiscard]] Guarantee claim_of_person(const AuditDesign& design, const AuditSubject& subject);

/// Adds mu_theory, epsilon_theory and the claim, of a design with the accountant's persons.
/// @throws PrivacyError if a hypothesis reveals more than the claim.
[[nodiscard]] AuditDesign accounted_for_person(AuditDesign design, const AuditSubject& subject);

}  // namespace sotto
