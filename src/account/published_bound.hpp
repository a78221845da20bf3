#pragma once

#include <Eigen/Dense>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "account/account_subject.hpp"
#include "sotto/core/names.hpp"
#include "sotto/views/view_record.hpp"
#include "views/gossip_bounds.hpp"

namespace sotto {

struct ViewBoundInput {
    const PlanConfig& plan;
    const AccountSubject& subject;
    double observers = 1;  ///< asked about in total; long work is skipped
    int threads = 1;
};

struct TrainingBoundInput {
    const PlanConfig& config;
    const Topography& topography;
    const NoisePlan& plan;
    long dimension = 1;                  ///< d, number of parameters
    std::optional<double> smoothness{};  ///< Lipschitz constant of every agent's gradient
};

/// A bound printed in a paper, shown beside sotto's own figures, which never rely on it: it
/// protects nobody. To add one, write a function in published_bound.cpp that fills this in, and add
/// it to the table.
struct PublishedBound {
    std::string name;    ///< in JSON
    std::string title;   ///< of its column: 10 characters at most
    std::string source;  ///< paper and theorem, or authors and year
    std::string says;    ///< what it bounds, and whose claim it is
    /// Squared sensitivities in a view, one per target, [1 / gradient unit^2]; nothing if the paper
    /// does not cover such a plan or view. Null: no bound of observers.
    std::optional<Eigen::VectorXd> (*of_view)(const ViewBoundInput&,
                                              const View&,
                                              std::span<const int> targets) = nullptr;
    /// A number about a training; nothing if the paper does not cover it, or an assumption is
    /// unknown. Null: no bound of trainings.
    std::optional<double> (*of_training)(const TrainingBoundInput&) = nullptr;
};

/// In the order in which they are shown.
[[nodiscard]] Registry<PublishedBound>& published_bounds();
/// Those of observers, and those of trainings, in that order.
[[nodiscard]] std::vector<const PublishedBound*> view_bounds();
[[nodiscard]] std::vector<const PublishedBound*> training_bounds();

struct TrainingBoundFigure {
    const PublishedBound* bound = nullptr;
    double value = 0;
};
[[nodiscard]] std::vector<TrainingBoundFigure> bounds_of_training(const TrainingBoundInput& input);

/// Terms of the bounds of [H], under its assumptions: one exchange per round with constant
/// symmetric weights, a constant step, clipped gradients, and noise on messages that cancels in the
/// mean over agents (eq. 19).
struct CancellingNoise {
    double step = 0;               ///< mu
    double gradient_norm = 0;      ///< G, by clipping; without regularisation
    double second_eigenvalue = 0;  ///< lambda_2, below 1
    /// Over all coordinates: max_k sum_{l != k} a_lk E|q_lk|^2 + E|q_kk|^2. This is the paper's 2
    /// b^2 a (eq. 29) for its own noise (eq. 20), and bounds a round's noise in a model.
    double noise = 0;
};

/// Nothing for a training outside the assumptions. Cost O(n^3).
[[nodiscard]] std::optional<CancellingNoise> cancelling_noise(const TrainingBoundInput& input);

/// Variance of every agent's noise if published bounds of gossip cover the plan: every agent adds
/// private Gaussian noise of the same variance to its gradient, independent between rounds, and
/// contributes to every round. Nothing otherwise.
[[nodiscard]] std::optional<double> equal_noise_variance(const PlanConfig& config,
                                                         const NoisePlan& plan);

/// Squared sensitivities by [G] Theorem 3 or 4 at the noise of the plan; nothing for other plans
/// and processes, views without members or of another kind than `seen`, or if all observers
/// together would take longer than some seconds.
[[nodiscard]] std::optional<Eigen::VectorXd> gossip_bounds_of(GossipTheorem theorem,
                                                              View::Kind seen,
                                                              const ViewBoundInput& input,
                                                              const View& view,
                                                              std::span<const int> targets);

[[nodiscard]] PublishedBound muffliato_record();
[[nodiscard]] PublishedBound gossip_sums_record();
[[nodiscard]] PublishedBound gossip_messages_record();

[[nodiscard]] PublishedBound disagreement_record();
[[nodiscard]] PublishedBound descent_record();
[[nodiscard]] PublishedBound stationarity_record();

}  // namespace sotto
