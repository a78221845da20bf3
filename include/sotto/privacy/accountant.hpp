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

/// An observer who sees all messages of all rounds, and the seeds and gradients of a coalition of
/// agents (empty: an eavesdropper). This is the view of every guarantee: gradients depend on the
/// past, and only with all messages seen does the state of every other agent follow from the view.
struct Observer {
    std::vector<int> coalition;  ///< ascending
};

/// diag((R^(I))^-1), R^(I) the part of R that the observer does not know, i.e. from streams whose
/// seed no member of its coalition holds: how sharply it sees one unit of each agent's gradient in
/// one round [1 / gradient unit^2]. Infinite where the unknown noise does not cover the agent (e_u
/// outside the range of R^(I): eigenvalues up to 1e-11 of the largest count as zero, components
/// above 1e-9 as outside), and for the coalition itself. With a trusted mean the observer sees only
/// the mean (unless it holds the aggregator's seed): 1/(1^T R 1) for every agent. Cost O(n^3).
/// What rounds have to do with each other multiplies it, which exposures count
/// (run_sensitivity_squared). Noise that depends on the receiver: 1^T (Q Q^T)^+ 1 with Q the
/// coefficients of all an agent's messages, its own copy left out; Laplace noise: the squared
/// inverse scale. Both only for streams of one agent alone.
/// @throws PrivacyError for a plan this accountant cannot bound.
[[nodiscard]] Eigen::VectorXd observed_precision(const NoisePlan& plan, const Observer& observer);

/// observed_precision of one plan for many observers: what an observer knows is taken from R^-1 as
/// a change of low rank (InverseChange) where it shares seeds with few others and there are many
/// agents. Cost of each: n r^2 with r the streams that it knows and others use, then; else O(n^3).
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
    Eigen::MatrixXd inverse_;                   // R^-1; empty where no use is made of it
    Eigen::SparseMatrix<double> coefficients_;  // scale F, agents x streams, by stream
    std::vector<std::vector<int>> streams_of_;  // whose seed an agent holds
};

/// Largest observed_precision of every agent over all coalitions of `size` agents it does not
/// belong to, each seeing all messages; size 0: the eavesdropper. A smaller coalition learns no
/// more. Cost: one of ObservedPrecisions a coalition, on all threads. @throws ConfigError as
/// check_coalition_size.
[[nodiscard]] Eigen::VectorXd coalition_precision(const NoisePlan& plan, int size);

/// The guarantee of every agent against one observer, from its exposure.
[[nodiscard]] std::vector<Guarantee> guarantees(const NoisePlan& plan,
                                                const Observer& observer,
                                                std::span<const Exposure> exposures,
                                                double delta);

/// The same against the worst coalition of `size` other agents, for each agent.
[[nodiscard]] std::vector<Guarantee> coalition_guarantees(const NoisePlan& plan,
                                                          int size,
                                                          std::span<const Exposure> exposures,
                                                          double delta);

/// The pair (one curious agent, target) that leaks most: the largest loss over all coalitions of
/// one agent and all other agents. Cost: n ObservedPrecisions, unless a target without any unknown
/// noise is found first. Nothing for one agent.
struct CuriousAgent {
    int observer = 0;
    int target = 0;
    Guarantee guarantee;
};
[[nodiscard]] std::optional<CuriousAgent> worst_curious_agent(const NoisePlan& plan,
                                                              std::span<const Exposure> exposures,
                                                              double delta);

}  // namespace sotto
