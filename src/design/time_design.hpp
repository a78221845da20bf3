#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <string_view>

#include "sotto/design/design.hpp"
#include "sotto/design/shaped_factor.hpp"

namespace sotto {

/// @throws ConfigError if every round counts against every other, so that only X_time = I is left
/// (where the input's shape asks for more); with Poisson sampling, if the shape lets rounds of one
/// record share noise, or makes columns of C_time longer than 1 (require_separate_rounds).
void require_choice_of_rounds(const DesignInput& input, std::string_view mechanism);

/// The same where the smallest kappa is 1. Factors over rounds are solved for so: they are then the
/// same, bit by bit, whatever the budget.
[[nodiscard]] DesignInput relative_input(const DesignInput& input);

/// The plan's spatial covariance where the smallest kappa is 1.
[[nodiscard]] Eigen::MatrixXd relative_covariance(const NoisePlan& plan, const DesignInput& input);

/// M of the trajectory, where the noise of every round is correlated by this factor.
[[nodiscard]] Eigen::MatrixXd space_given_time(const DesignInput& input,
                                               const TemporalFactor& factor);

/// Of memory.
[[nodiscard]] std::size_t bytes_of(const TemporalFactor& factor);

/// The best temporal factor of the input's shape, given the covariance across agents. The last
/// solutions of this process are kept: trainings of a sweep often share them.
[[nodiscard]] ShapedFactor time_given_space(const DesignInput& input,
                                            const Eigen::MatrixXd& covariance);
/// ... of this shape, as Certificate of solve_shaped_factor says.
[[nodiscard]] ShapedFactor time_given_space(const DesignInput& input,
                                            const Eigen::MatrixXd& covariance,
                                            const TemporalShape& shape,
                                            Certificate certificate);

}  // namespace sotto
