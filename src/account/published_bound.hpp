#pragma once

#include <Eigen/Dense>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "account/account_subject.hpp"
#include "sotto/core/registry.hpp"
#include "sotto/views/view.hpp"

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
/// they protect nobody. A new one is one file of src/account/bounds that fills this in and its line in
/// the table there; what shows bounds goes through all of them.
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

}  // namespace sotto
