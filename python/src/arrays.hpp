#pragma once

// numpy arrays and Eigen matrices on one memory.

#include <pybind11/numpy.h>

#include <Eigen/Dense>
#include <cstdint>
#include <span>

#include "learn/handed_objective.hpp"

namespace sotto::python {

/// A read-only array on memory that `owner` keeps. LOCAL.
[[nodiscard]] pybind11::array view_of(const double* values,
                                      Eigen::Index size,
                                      pybind11::handle owner);
/// A matrix as an array of its own, rows first.
[[nodiscard]] pybind11::array_t<double> array_of(const Eigen::MatrixXd& matrix);
[[nodiscard]] pybind11::array_t<std::int64_t> array_of(std::span<const Eigen::Index> rows);

/// What a program gives as gradients, where it is: count x d (or d: one), single or double
/// precision, rows one behind the other.
/// @throws ConfigError naming what was given and what is allowed.
[[nodiscard]] HandedGradients gradients_in(const pybind11::array& array);
/// An array of that form, which may be a copy of what is given.
[[nodiscard]] pybind11::array gradients_from(const pybind11::object& given);

}  // namespace sotto::python
