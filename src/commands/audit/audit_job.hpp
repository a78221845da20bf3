#pragma once

#include <Eigen/Dense>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/audit/attack_statistics.hpp"
#include "run/account_subject.hpp"
#include "run/training.hpp"
#include "sotto/views/view_query.hpp"

namespace sotto {

/// What the members of a view try to find out.
enum class Attack {
    likelihood,      ///< which of two contributions an agent made
    reconstruction,  ///< the data of every other agent (attack_reconstruction.hpp)
    membership       ///< which records agents trained on (attack_membership.hpp)
};
[[nodiscard]] Attack parse_attack(std::string_view option, std::string_view text);
[[nodiscard]] std::string name_of(Attack attack);

/// What `sotto audit` is asked.
struct AuditConfig {
    TrainConfig train;  ///< the run; likelihood: its task does not count, but for the seed
    Attack attack = Attack::likelihood;
    std::string view = "eavesdropper";
    std::optional<int> target;       ///< none: the agent the view learns most about
    std::string hypothesis = "all";  ///< "constant", "random", "worst"
    std::optional<long> trials;      ///< of every hypothesis; none: as the wanted width asks
    double width = 0.05;             ///< half width of the interval of mu, relative to mu
    double level = 0.99;             ///< confidence
    /// A run that was made by an audit before: its recordings are analysed, nothing runs.
    std::optional<std::string> run;
};

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

/// What one hypothesis came to.
struct AttackResult {
    AttackFigures figures;  ///< intervals at the audit's level
    bool exceeds = false;   ///< the lower end, at the level corrected for the number of tests, is
                            ///< above what the accountant says
};

/// What the audit found.
struct AuditResult {
    std::string mechanism, view;
    int agents = 0;
    long rounds = 0;
    double delta = 0, level = 0.99;
    AuditDesign design;
    std::vector<AttackResult> attacks;          ///< as design.hypotheses
    std::optional<WhitenessFigures> whiteness;  ///< Gaussian noise only
    bool noise_as_accounted = true;
    long mask_pairs = 0;                ///< of masked shares compared; 0 without secure sums
    std::vector<std::string> findings;  ///< in words, why it is not consistent
    bool consistent = true;
    double seconds = 0;
    std::string run_directory;
    [[nodiscard]] std::size_t strongest() const;  ///< hypothesis with the largest theory
};

/// Chooses target, hypotheses and number of trials for the view of the configuration. The same on
/// every process. @throws ConfigError for a view, target or hypothesis that does not exist.
[[nodiscard]] AuditDesign design_audit(const AuditConfig& config, const AccountSubject& subject);

/// What the accountant says about a design in a view: fills in mu_theory, epsilon_theory, the claim
/// and its argument.
void account_for(AuditDesign& design,
                 const AccountSubject& subject,
                 const MessageProcess& process,
                 const View& view,
                 int threads);

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

/// Looks at recordings of a run and at nothing else: merges what the members of the view recorded,
/// runs the optimal test of every trial, and compares with the accountant's figures.
/// @param views folder `views` of the run directory.  @param process the run as its plan says.
[[nodiscard]] AuditResult analyse_recordings(const std::filesystem::path& views,
                                             const MessageProcess& process,
                                             const View& view,
                                             const AuditDesign& design,
                                             double delta,
                                             double level,
                                             int threads);

/// The whole audit: plan, a training of canaries with real messages, recordings, analysis on
/// process 0, canaries.json and audit.json in the run directory. With config.run the analysis only,
/// of the view that is asked; nothing is written. COLLECTIVE; process 0 has the result, the others
/// whether it is consistent.
[[nodiscard]] AuditResult run_audit(const AuditConfig& config,
                                    Network& network,
                                    TrainingListener& observer,
                                    const std::function<bool()>& stop_requested);

/// The JSON object of `sotto audit` (docs/cli.md), as text.
[[nodiscard]] std::string audit_report_json(const AuditResult& result);
/// The same for people.
[[nodiscard]] std::string audit_report_text(const AuditResult& result);

}  // namespace sotto
