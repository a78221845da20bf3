#include "audit.hpp"

#include <fmt/format.h>
#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "audit/canary_influence.hpp"
#include "core/json.hpp"
#include "sotto/core/error.hpp"

namespace py = pybind11;

namespace sotto::python {

namespace {

using Values = py::array_t<double, py::array::c_style | py::array::forcecast>;

/// d x rounds for every agent. @param values agents x rounds x d.
std::vector<Eigen::MatrixXd> by_agent(const char* name, const Values& values) {
    if (values.ndim() != 3)
        throw ConfigError(fmt::format(
            "{}: {} axes are not allowed (3: agents, rounds, coordinates)", name, values.ndim()));
    std::vector<Eigen::MatrixXd> all;
    for (py::ssize_t agent = 0; agent < values.shape(0); ++agent)
        all.emplace_back(Eigen::Map<const Eigen::MatrixXd>(
            values.data(agent, 0, 0), values.shape(2), values.shape(1)));
    return all;
}

/// The JSON of a result.
std::string measured(const std::string& directory,
                     const std::string& view,
                     const Eigen::VectorXd& initial,
                     const Values& sent,
                     const Values& without,
                     const Values& allowed,
                     double confidence) {
    const CanaryContributions contributions{initial,
                                            by_agent("sent", sent),
                                            by_agent("without", without),
                                            by_agent("allowed", allowed)};
    const py::gil_scoped_release others_may_run;
    return to_text(audit_canaries(directory, view, contributions, confidence).json());
}

}  // namespace

void bind_audit(py::module_& module) {
    module.def("audit_canaries",
               measured,
               py::arg("directory"),
               py::arg("view"),
               py::arg("initial"),
               py::arg("sent"),
               py::arg("without"),
               py::arg("allowed"),
               py::arg("confidence"),
               "What a view of a run that has ended sees of canaries: JSON.");
}

}  // namespace sotto::python
