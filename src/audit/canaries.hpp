#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/audit_job.hpp"
#include "audit/audit_subject.hpp"
#include "net/control.hpp"
#include "sotto/core/names.hpp"
#include "sotto/privacy/budget.hpp"
#include "tasks/task.hpp"

namespace sotto {

/// Fewest trials per hypothesis: 100 of each sign in each half.
inline constexpr long fewest_trials = 400;

/// A pattern of the targets' contributions: in trial i target a contributes sigma_a b_i C s_t in
/// round t, and the attacker, who knows s and sigma, guesses the sign b_i.
struct Hypothesis {
    std::string name;
    Eigen::VectorXd signs;  ///< s_t in {-1, 0, 1}
    double mu_theory = 0;   ///< Delta sqrt(s^T Gram s); infinite if the view breaks the protection,
                            ///< NaN under Laplace noise
    double epsilon_theory = 0;
    /// sigma_a in [-1, 1] of every target: it contributes sigma_a times as much. Empty: 1.
    Eigen::VectorXd sides{};
};

/// Trials of an audit: coordinate i of the models belongs to hypothesis i mod count.
struct AuditDesign {
    std::vector<int> targets{0};  ///< ascending; several are the agents of one person
    int unit_agents = 1;          ///< K: the accountant's persons are at up to so many agents
    std::uint64_t seed = 1;       ///< of the secret signs b
    long trials = 0;              ///< coordinates of the models
    double contribution = 0;      ///< C, or one record's contribution to a mean: Delta / 2
    std::vector<Hypothesis> hypotheses;
    double claim_mu = 0;  ///< the accountant's bound for the view, over all contributions
    double claim_epsilon = 0;
    std::string argument;

    /// b_i, +-1, equally many of each in every hypothesis.
    [[nodiscard]] Eigen::VectorXd secret_signs() const;
    /// s of every hypothesis, rounds x hypotheses.
    [[nodiscard]] Eigen::MatrixXd patterns() const;
    /// sigma_a of targets[place] in every hypothesis.
    [[nodiscard]] Eigen::VectorXd sides_of(std::size_t place) const;
    /// "agent 3", "a person at agents 2, 5".
    [[nodiscard]] std::string whom() const;
};

/// The contributions as text ("format": "sotto-canaries"), which a later analysis needs: target,
/// seed, trials, contribution and signs (version 1), or of a person targets, and sides too
/// (version 2).
[[nodiscard]] std::string canaries_json(const AuditDesign& design);
/// @throws DataError naming source and problem.
[[nodiscard]] AuditDesign canaries_from_json(std::string_view text, const std::string& source);

/// Contributions of the local agents: the targets' canaries; others contribute nothing.
/// @param divisor of the sum of clipped record gradients; 1 with adjacency agent. LOCAL.
[[nodiscard]] LocalTask make_canary_task(const AuditDesign& design,
                                         double divisor,
                                         const Control& network);

/// Chooses targets, hypotheses and number of trials for a run with fixed inputs, with the
/// accountant's figures. The same on every process. With a private choice only the hypothesis that
/// reveals most, and enough trials for usual_choices of them.
/// @throws ConfigError for an invalid target, hypothesis, width or number of trials, and as
/// require_possible_persons; as accounted.
[[nodiscard]] AuditDesign design_audit(const AuditConfig& config, const AuditSubject& subject);

/// Adds the accountant's figures: mu_theory, epsilon_theory, the claim and its argument.
/// @throws PrivacyError if a person's hypothesis reveals more than the claim.
[[nodiscard]] AuditDesign accounted(AuditDesign design, const AuditSubject& subject, int threads);

enum class SignPattern {
    constant,  ///< +1 in the participation pattern whose rounds together reveal most
    random,    ///< as constant, with random signs
    worst      ///< the signs the view distinguishes best, as far as a search finds them
};
inline constexpr NameTable<SignPattern, 3> sign_patterns{{{{SignPattern::constant, "constant"},
                                                           {SignPattern::random, "random"},
                                                           {SignPattern::worst, "worst"}}}};

/// A pattern by name, or "all". @throws ConfigError for another name.
[[nodiscard]] std::vector<SignPattern> parse_hypothesis(const std::string& text);

/// s_t in {-1, 0, 1}, 0 in rounds without participation; `rounds` of them.
/// @param gram of the target's contributions (view_gram), rounds x rounds; without one,
/// participation starts in round 0, and worst signs are random.  @param seed of random signs.
[[nodiscard]] Eigen::VectorXd make_signs(SignPattern pattern,
                                         const std::optional<Eigen::MatrixXd>& gram,
                                         Eigen::Index rounds,
                                         const Participation& participation,
                                         std::uint64_t seed);

}  // namespace sotto
