#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/audit_job.hpp"
#include "audit/audit_subject.hpp"
#include "net/network.hpp"
#include "sotto/core/names.hpp"
#include "sotto/privacy/budget.hpp"
#include "tasks/task.hpp"

namespace sotto {

/// Trials of every hypothesis at least: 100 of each sign in each half.
inline constexpr long fewest_trials = 400;

/// How the target's contributions of a round may go: in trial i it contributes b_i C s_t in round
/// t, and the attacker, who knows s, guesses the sign b_i.
struct Hypothesis {
    std::string name;
    Eigen::VectorXd signs;  ///< s_t in {-1, 0, 1}
    double mu_theory = 0;   ///< Delta sqrt(s^T Gram s); infinite where the view breaks the
                            ///< protection, not a number under Laplace noise
    double epsilon_theory = 0;
};

/// The trials of an audit: coordinate i of the models belongs to hypothesis i mod count.
struct AuditDesign {
    int target = 0;
    std::uint64_t seed = 1;   ///< of the secret signs b
    long trials = 0;          ///< coordinates of the models
    double contribution = 0;  ///< C, or what one record contributes to a mean: Delta / 2
    std::vector<Hypothesis> hypotheses;
    double claim_mu = 0;  ///< the accountant's bound for the view: no contributions are told apart
                          ///< better
    double claim_epsilon = 0;
    std::string argument;

    /// b_i, +-1, as often +1 as -1 in every hypothesis.
    [[nodiscard]] Eigen::VectorXd secret_signs() const;
    /// s of every hypothesis, rounds x hypotheses.
    [[nodiscard]] Eigen::MatrixXd patterns() const;
};

/// What was contributed, as text ("format": "sotto-canaries", "version": 1): target, seed, trials,
/// contribution and signs; needed to look at the recordings again.
[[nodiscard]] std::string canaries_json(const AuditDesign& design);
/// @throws DataError naming the source and what is wrong.
[[nodiscard]] AuditDesign canaries_from_json(std::string_view text, const std::string& source);

/// What the agents of this process contribute: the target its canaries, the others nothing.
/// @param divisor of the sum of clipped record gradients; 1 with adjacency agent. LOCAL.
[[nodiscard]] LocalTask make_canary_task(const AuditDesign& design,
                                         double divisor,
                                         const Network& network);

/// Chooses target, hypotheses and number of trials for a run whose inputs are fixed in advance, and
/// says what the accountant says. The same on every process.
/// @throws ConfigError for a target, hypothesis, width or number of trials that does not exist.
[[nodiscard]] AuditDesign design_audit(const AuditConfig& config, const AuditSubject& subject);

/// A design with what the accountant says about it: mu_theory, epsilon_theory, the claim and its
/// argument.
[[nodiscard]] AuditDesign accounted(AuditDesign design, const AuditSubject& subject, int threads);

/// What the target contributes over the rounds.
enum class SignPattern {
    constant,  ///< +1 in the participation pattern whose rounds together tell most
    random,    ///< as constant, with random signs
    worst      ///< the signs that the view tells apart best, as far as a search finds them
};
inline constexpr NameTable<SignPattern, 3> sign_patterns{{{{SignPattern::constant, "constant"},
                                                           {SignPattern::random, "random"},
                                                           {SignPattern::worst, "worst"}}}};

/// One pattern by its name, or "all". @throws ConfigError for another.
[[nodiscard]] std::vector<SignPattern> parse_hypothesis(const std::string& text);

/// s_t in {-1, 0, 1}, 0 in rounds without participation; `rounds` of them.
/// @param gram of the target's contributions (view_gram), rounds x rounds; without one
/// participation starts in round 0, and the worst signs are random ones.  @param seed of random
/// signs.
[[nodiscard]] Eigen::VectorXd make_signs(SignPattern pattern,
                                         const std::optional<Eigen::MatrixXd>& gram,
                                         Eigen::Index rounds,
                                         const Participation& participation,
                                         std::uint64_t seed);

}  // namespace sotto
