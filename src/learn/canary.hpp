#pragma once

#include <Eigen/Dense>
#include <memory>

#include "sotto/learn/objective.hpp"

namespace sotto {

/// What one agent contributes in every round, given in advance whatever the model: the gradient of
/// coordinate i in round t is values(i) signs(t, i mod patterns).
struct Contributions {
    Eigen::VectorXd values;  ///< d [gradient unit]
    Eigen::MatrixXd signs;   ///< rounds x patterns
    bool one_model = false;  ///< a record's contribution is clipped as a whole, in L2 norm

    [[nodiscard]] double at(long round, Eigen::Index coordinate) const {
        return values(coordinate) * signs(round, coordinate % signs.cols());
    }
};

/// An agent of an audit. Row t of its records is what it contributes in round t: a batch is one row
/// (BatchSampler::in_order). With clipped record gradients, that row is clipped coordinate by
/// coordinate where every coordinate is a model of its own. All losses are 0.
/// @throws ConfigError without values or signs.
[[nodiscard]] std::unique_ptr<Objective> make_canary_objective(Contributions contributions);

}  // namespace sotto
