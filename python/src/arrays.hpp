#pragma once

// numpy arrays and Eigen matrices that share memory.

#include <pybind11/numpy.h>

#include <Eigen/Dense>
#include <cstdint>
#include <optional>
#include <span>

#include "learn/handed_objective.hpp"

namespace sotto::python {

/// A read-only array on memory that `owner` keeps alive. LOCAL.
[[nodiscard]] pybind11::array view_of(const double* values,
                                      Eigen::Index size,
                                      pybind11::handle owner);
/// A copy of a matrix as an array, row by row.
[[nodiscard]] pybind11::array_t<double> array_of(const Eigen::MatrixXd& matrix);
[[nodiscard]] pybind11::array_t<std::int64_t> array_of(std::span<const Eigen::Index> rows);

/// A view of an array of gradients: count x d (or d for a single one), single or double precision,
/// with contiguous rows.
/// @throws ConfigError naming what was given and what is allowed.
[[nodiscard]] HandedGradients gradients_in(const pybind11::array& array);
/// Converts to such an array; it may be a copy.
[[nodiscard]] pybind11::array gradients_from(const pybind11::object& given);

/// Memory of a sum of clipped gradients and of norms before clipping, kept while this lives.
class KeptSum {
  public:
    KeptSum() = default;
    /// @param given a tuple (sum, norms): d values or None, and one norm a record.
    /// @throws ConfigError naming what was given and what is allowed.
    explicit KeptSum(const pybind11::object& given);
    [[nodiscard]] HandedSum view() const;

  private:
    std::optional<pybind11::array> sum_;
    pybind11::array_t<double> norms_;
};

}  // namespace sotto::python
