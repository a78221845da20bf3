#include "arrays.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "sotto/core/error.hpp"

namespace py = pybind11;

namespace sotto::python {

py::array view_of(const double* values, Eigen::Index size, py::handle owner) {
    py::array_t<double> view({size}, {static_cast<py::ssize_t>(sizeof(double))}, values, owner);
    py::detail::array_proxy(view.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
    return view;
}

py::array_t<double> array_of(const Eigen::MatrixXd& matrix) {
    py::array_t<double> array({matrix.rows(), matrix.cols()});
    using RowsFirst = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Eigen::Map<RowsFirst>(array.mutable_data(), matrix.rows(), matrix.cols()) = matrix;
    return array;
}

py::array_t<std::int64_t> array_of(std::span<const Eigen::Index> rows) {
    return py::array_t<std::int64_t>(static_cast<py::ssize_t>(rows.size()), rows.data());
}

HandedGradients gradients_in(const py::array& array) {
    const Eigen::Index count = array.ndim() == 1 ? 1 : array.shape(0);
    const Eigen::Index dimension = array.shape(array.ndim() - 1);
    if (py::isinstance<py::array_t<float>>(array))
        return Eigen::Map<const Eigen::MatrixXf>(
            static_cast<const float*>(array.data()), dimension, count);
    return Eigen::Map<const Eigen::MatrixXd>(
        static_cast<const double*>(array.data()), dimension, count);
}

namespace {

/// @throws ConfigError for values that numpy would convert to unintended numbers.
void require_plain_numbers(const py::object& given, const py::array& array) {
    const py::object masked = py::module_::import("numpy.ma").attr("MaskedArray");
    if (py::isinstance(given, masked))
        throw ConfigError(
            "gradients: a masked array is not allowed, since what stands under its mask would be "
            "taken (an array: give array.filled(0), or leave masked records out of the gradient)");
    constexpr std::string_view numbers = "fiu";  // numpy's kinds of real numbers
    if (numbers.find(array.dtype().kind()) == std::string_view::npos)
        throw ConfigError(fmt::format("gradients: values of type {} are not allowed (real numbers)",
                                      std::string(py::str(array.dtype()))));
}

}  // namespace

py::array gradients_from(const py::object& given) {
    constexpr int rows_behind_each_other = py::array::c_style;
    const auto array = py::array::ensure(given, rows_behind_each_other);
    if (!array || array.ndim() < 1 || array.ndim() > 2) {
        PyErr_Clear();
        throw ConfigError(fmt::format(
            "gradients: {} is not allowed (an array: one row a record, or one gradient)",
            array ? fmt::format("an array of {} dimensions", array.ndim())
                  : std::string(py::str(py::type::of(given)))));
    }
    require_plain_numbers(given, array);
    if (py::isinstance<py::array_t<float>>(array)) return array;
    const auto doubles =
        py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(array);
    if (!doubles) {
        PyErr_Clear();
        throw ConfigError(fmt::format("gradients: values of type {} are not allowed (numbers)",
                                      std::string(py::str(array.dtype()))));
    }
    return doubles;
}

KeptSum::KeptSum(const py::object& given) {
    const bool pair = py::isinstance<py::tuple>(given) && py::len(given) == 2;
    if (!pair)
        throw ConfigError(fmt::format(
            "gradients: {} is not allowed with clipped=True (a tuple: sum of clipped gradients, "
            "norms before clipping)",
            std::string(py::str(py::type::of(given)))));
    const auto parts = py::reinterpret_borrow<py::tuple>(given);
    if (!parts[0].is_none()) sum_ = gradients_from(parts[0]);
    const py::array norms = gradients_from(parts[1]);
    if (norms.ndim() != 1)
        throw ConfigError(fmt::format(
            "norms: an array of {} dimensions is not allowed (one norm a record)", norms.ndim()));
    norms_ = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(norms);
}

HandedSum KeptSum::view() const {
    HandedSum handed{std::nullopt, {norms_.data(), norms_.size()}};
    if (sum_) handed.sum.emplace(gradients_in(*sum_));
    return handed;
}

}  // namespace sotto::python
