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

/// What bounds of what observers learn are worked out from.
struct ViewBoundInput {
    const PlanConfig& plan;
    const AccountSubject& subject;
    double observers = 1;  ///< that are asked, all together: long work is left undone
    int threads = 1;
};

/// What bounds of a training are worked out from.
struct TrainingBoundInput {
    const PlanConfig& config;
    const Topography& topography;
    const NoisePlan& plan;
    long dimension = 1;                  ///< d, parameters of the model
    std::optional<double> smoothness{};  ///< Lipschitz constant of every agent's gradient
};

/// A bound that a paper prints, to stand beside sotto's own figures. sotto relies on none of them:
/// they protect nobody. A new one is a function in published_bound.cpp that fills this in, and its
/// line in the table; what shows bounds goes through all of them.
struct PublishedBound {
    std::string name;    ///< of its figure in JSON
    std::string title;   ///< of its column, for people: 10 characters at most
    std::string source;  ///< paper and theorem, or authors and year
    std::string says;    ///< what of, and whose claim it is
    /// Squared sensitivities in a view, one for every target, [1 / gradient unit^2]; nothing where
    /// the paper does not speak of such a plan or view. Null: it is no bound of observers.
    std::optional<Eigen::VectorXd> (*of_view)(const ViewBoundInput&,
                                              const View&,
                                              std::span<const int> targets) = nullptr;
    /// A number about a training; nothing where the paper does not speak of such a one, or an
    /// assumption of it is not known. Null: it is no bound of trainings.
    std::optional<double> (*of_training)(const TrainingBoundInput&) = nullptr;
};

/// All of them, in the order in which they are shown.
[[nodiscard]] Registry<PublishedBound>& published_bounds();
/// Those of observers, and those of trainings, in that order.
[[nodiscard]] std::vector<const PublishedBound*> view_bounds();
[[nodiscard]] std::vector<const PublishedBound*> training_bounds();

/// A bound of a training with its figure.
struct TrainingBoundFigure {
    const PublishedBound* bound = nullptr;
    double value = 0;
};
/// All that the papers say of this training.
[[nodiscard]] std::vector<TrainingBoundFigure> bounds_of_training(const TrainingBoundInput& input);

/// What the bounds of [H] are made of, under its assumptions: one exchange a round with symmetric
/// weights that do not change, a constant step, gradients that are clipped, and noise on messages
/// that cancels in the mean over agents (eq. 19).
struct CancellingNoise {
    double step = 0;               ///< mu
    double gradient_norm = 0;      ///< G, by clipping; regularisation is not among it
    double second_eigenvalue = 0;  ///< lambda_2, below 1
    /// Of all coordinates: max_k sum_{l != k} a_lk E|q_lk|^2 + E|q_kk|^2, which is the paper's
    /// 2 b^2 a (eq. 29) for its own noise (eq. 20), and bounds the noise of a round in a model.
    double noise = 0;
};

/// Nothing for a training that the assumptions do not hold of. Cost O(n^3).
[[nodiscard]] std::optional<CancellingNoise> cancelling_noise(const TrainingBoundInput& input);

/// Variance of every agent's noise where published bounds of gossip speak of a plan: every agent
/// adds private Gaussian noise of one variance to its gradient, independent from round to round,
/// and contributes to every round for certain. Nothing otherwise.
[[nodiscard]] std::optional<double> equal_noise_variance(const PlanConfig& config,
                                                         const NoisePlan& plan);

/// Squared sensitivities by [G] Theorem 3 or 4 at the noise of the plan; nothing for other plans
/// and processes, views without members or of another kind than `seen`, and where all observers
/// together would take longer than some seconds.
[[nodiscard]] std::optional<Eigen::VectorXd> gossip_bounds_of(GossipTheorem theorem,
                                                              View::Kind seen,
                                                              const ViewBoundInput& input,
                                                              const View& view,
                                                              std::span<const int> targets);

// Of what observers learn.
[[nodiscard]] PublishedBound muffliato_record();
[[nodiscard]] PublishedBound gossip_sums_record();
[[nodiscard]] PublishedBound gossip_messages_record();

// Of trainings whose noise cancels in the mean over agents.
[[nodiscard]] PublishedBound disagreement_record();
[[nodiscard]] PublishedBound descent_record();
[[nodiscard]] PublishedBound stationarity_record();

}  // namespace sotto
