#pragma once

#include <Eigen/Dense>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "account/account_subject.hpp"
#include "config/config.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto {

/// What agents contribute to the messages of a training, as whoever computed their gradients knows
/// it: sums of clipped gradients over the batch size, d x rounds for every agent.
struct CanaryContributions {
    Eigen::VectorXd initial;               ///< the first model, d
    std::vector<Eigen::MatrixXd> sent;     ///< as handed over, canaries among them
    std::vector<Eigen::MatrixXd> without;  ///< the same without the agent's canaries
    /// What canaries may contribute: C over the batch size in the direction of the gradient of each
    /// that was drawn. Zero: the agent has none.
    std::vector<Eigen::MatrixXd> allowed;
};

/// What a view sees of the canaries of one agent. Intervals of all agents and the tests of their
/// noise hold together at the result's level.
struct CanaryInfluence {
    int target = 0;
    /// Influence of canaries over noise, both measured, in units of what is accounted for.
    double ratio = 1, lower = 0, upper = 0;
    double noise_ratio = 1;                    ///< mean square of the noise, in units of the plan's
    double epsilon_theory = 0, mu_theory = 0;  ///< accounted; mu is NaN unless the loss is Gaussian
    double epsilon_lower = 0, mu_lower = 0;    ///< with `lower` times the sensitivity
};

struct CanaryInfluenceResult {
    std::string view;
    double delta = 0, level = 0;
    long rounds = 0;
    std::vector<CanaryInfluence> targets;  ///< ascending
    std::vector<std::string> findings;     ///< reasons why it is not consistent

    /// Half of the widest interval of a ratio.
    [[nodiscard]] double width() const;
    /// Whether twice what is accounted for would be seen: width() is at most widest_influence, and
    /// no interval of a ratio is below least_influence.
    [[nodiscard]] bool informative() const;
    [[nodiscard]] nlohmann::ordered_json json() const;
};

/// Largest half width of an interval that says something: twice what is accounted for is seen.
inline constexpr double widest_influence = 0.5;
/// Where canaries surely show less than this, they are not in the messages as they should be.
inline constexpr double least_influence = 0.5;

/// Measures how much canaries change recorded messages. Of every agent outside the view, with Z the
/// modes of its contributions (read_contribution_modes) without everything known (`sent` of others,
/// `without` of its own) and E what `allowed` shows in them, with N values:
///
///     a = <E, Z> / |E|^2,   s^2 = (|Z|^2 - a^2 |E|^2) / (N - 1),   ratio = a / s,
///
/// with standard error sqrt(1 / |E|^2 + ratio^2 / (2 N)). A finding is a lower end above 1, noise
/// that is weaker than chance allows (chi-squared), or a seed that a member must not have.
/// @param views folder of the recordings.  @param process of `account`, with step sizes.
/// @throws ConfigError for contributions that do not fit, no canaries, Laplace noise, a level that
/// is not above 0.5 and below 1, or a view that the mechanism does not withstand; as
/// RecordedInnovations. Cost: RecordedInnovations and read_contribution_modes once for each agent.
[[nodiscard]] CanaryInfluenceResult analyse_influence(const std::filesystem::path& views,
                                                      const MessageProcess& process,
                                                      const View& view,
                                                      const AccountSubject& account,
                                                      const CanaryContributions& contributions,
                                                      double level);

/// Whether a training with these options, and the view of it, can be audited. @param graph of all
/// agents.
/// @throws ConfigError, naming the option, for messages that hold more than clipped gradients and
/// noise (l2, local steps), that are summed in secret or whose rounds are padded, for all data of
/// an agent protected, for a view that is not one observer, and for one that the training does not
/// record.
void require_auditable(const TrainConfig& config, std::string_view view, const Graph& graph);

/// analyse_influence of a training that has ended. LOCAL.
/// @param directory of the run, with the view's recordings.  @param view as of `--view`.
/// @throws as require_auditable, analyse_influence, read_recorded_run and attacked_process;
/// ConfigError for a training of more than one stretch of rounds.
[[nodiscard]] CanaryInfluenceResult audit_canaries(const std::filesystem::path& directory,
                                                   std::string_view view,
                                                   const CanaryContributions& contributions,
                                                   double level);

}  // namespace sotto
