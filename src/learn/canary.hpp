#pragma once

#include <Eigen/Dense>
#include <memory>

#include "sotto/learn/objective.hpp"

namespace sotto {

/// What one agent contributes in every round, independent of the model: coordinate i of the
/// gradient in round t is values(i) signs(t, i mod patterns).
struct Contributions {
    Eigen::VectorXd values;  ///< d [gradient unit]
    Eigen::MatrixXd signs;   ///< rounds x patterns
    bool one_model = false;  ///< clip a record's contribution as a whole, in L2 norm

    [[nodiscard]] double at(long round, Eigen::Index coordinate) const {
        return values(coordinate) * signs(round, coordinate % signs.cols());
    }
};

/// The objective of an agent in an audit. Row t of its records is its contribution in round t, and
/// a batch is one row (BatchSampler::in_order). Clipped record gradients are clipped coordinate by
/// coordinate unless one_model. All losses are 0.
/// @throws ConfigError without values or signs.
[[nodiscard]] std::unique_ptr<Objective> make_canary_objective(Contributions contributions);

}  // namespace sotto
