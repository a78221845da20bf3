#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <optional>
#include <span>
#include <vector>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// R = scale^2 F F^T, agents x agents: covariance across agents of one coordinate of one round.
[[nodiscard]] Eigen::MatrixXd spatial_covariance(const NoisePlan& plan);

/// An observer of all messages of all rounds who also knows the seeds and gradients of a coalition
/// of agents (empty: an eavesdropper). Every guarantee is against this view: gradients depend on
/// the past, and the states of the other agents follow only from all messages.
struct Observer {
    std::vector<int> coalition;  ///< ascending
};

/// diag((R^(I))^-1) [1 / gradient unit^2]: how precisely the observer sees one unit of each agent's
/// gradient in one round. R^(I) is the part of R from streams whose seed no member of the coalition
/// holds. Infinite for the coalition itself, and for an agent whose e_u is outside the range of
/// R^(I) (eigenvalues up to 1e-11 of the largest count as zero, components above 1e-9 as outside).
/// Cost O(n^3).
/// - trusted mean: 1/(1^T R 1) for every agent, unless the observer holds the aggregator's seed.
/// - noise that depends on the receiver: 1^T (Q Q^T)^+ 1, where Q has the coefficients of all the
///   agent's messages except its own copy. Only for streams of one agent alone.
/// - Laplace noise: the squared inverse scale. Only for streams of one agent alone.
///
/// Correlation between rounds is a separate factor (run_sensitivity_squared).
/// @throws PrivacyError for a plan this accountant cannot bound.
[[nodiscard]] Eigen::VectorXd observed_precision(const NoisePlan& plan, const Observer& observer);

/// observed_precision of one plan for many observers. With many agents that share seeds with few
/// others, what an observer knows is a low-rank change of R^-1 (InverseChange): cost n r^2 each,
/// with r the streams it knows that others use too; otherwise O(n^3).
class ObservedPrecisions {
  public:
    /// @param plan must outlive this.
    explicit ObservedPrecisions(const NoisePlan& plan);
    /// @throws as observed_precision.
    [[nodiscard]] Eigen::VectorXd of(const Observer& observer) const;

  private:
    [[nodiscard]] std::optional<Eigen::VectorXd> by_change(const Observer& observer) const;

    const NoisePlan& plan_;
    double condition_ = 0;                      // largest variance times largest precision
    Eigen::MatrixXd inverse_;                   // R^-1; empty if unused
    Eigen::SparseMatrix<double> coefficients_;  // scale F, agents x streams, by stream
    std::vector<std::vector<int>> streams_of_;  // streams whose seed an agent holds
};

/// Largest observed_precision of every agent over all coalitions of `size` other agents that each
/// see all messages; size 0: the eavesdropper. A smaller coalition learns no more. Cost: one of
/// ObservedPrecisions a coalition, on all threads. @throws ConfigError as check_coalition_size.
[[nodiscard]] Eigen::VectorXd coalition_precision(const NoisePlan& plan, int size);

/// The guarantee of every agent against one observer.
[[nodiscard]] std::vector<Guarantee> guarantees(const NoisePlan& plan,
                                                const Observer& observer,
                                                std::span<const Exposure> exposures,
                                                double delta);

/// The guarantee of every agent against its worst coalition of `size` other agents.
[[nodiscard]] std::vector<Guarantee> coalition_guarantees(const NoisePlan& plan,
                                                          int size,
                                                          std::span<const Exposure> exposures,
                                                          double delta);

/// The pair (one curious agent, target) with the largest loss over all coalitions of one agent;
/// nothing for one agent. Cost: n ObservedPrecisions, unless a target without any unknown noise is
/// found first.
struct CuriousAgent {
    int observer = 0;
    int target = 0;
    Guarantee guarantee;
};
[[nodiscard]] std::optional<CuriousAgent> worst_curious_agent(const NoisePlan& plan,
                                                              std::span<const Exposure> exposures,
                                                              double delta);

/// The worst of all persons who have records at several agents, over all sets of up to K agents
/// outside the coalition, as mu^2 divided by what is allowed
/// (docs/equations.md#persons-at-several-agents).
struct WorstPerson {
    std::vector<int> agents;     ///< the worst set found, ascending
    std::vector<int> coalition;  ///< the coalition that learns most about it
    double reached = 0;          ///< such a person is among those found: no smaller figure holds
    double upper = 0;            ///< certified for every person; may be infinite
    bool exhaustive = true;      ///< every set was tried; otherwise `upper` bounds the others
};

}  // namespace sotto
