#include "plan.hpp"

#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <vector>

#include "account/plan_job.hpp"
#include "arrays.hpp"
#include "core/files.hpp"
#include "options/graph_options.hpp"
#include "options/option_parser.hpp"
#include "planning/build_topography.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace py = pybind11;

namespace sotto::python {

namespace {

using Arguments = std::vector<std::string>;

/// A graph with its mixing matrix.
struct MadeGraph {
    BuiltTopography built;
    std::string report;  ///< JSON of `sotto graph`
};

MadeGraph make_graph(const Arguments& arguments) {
    const py::gil_scoped_release others_may_run;
    const auto set = OptionSet<GraphConfig>().add(graph_options());
    const GraphConfig config = set.read(parse_options(set.written(), arguments));
    BuiltTopography built = build_topography(config, 1);
    std::string report = graph_report_json(describe_graph(built, config.mixing));
    return {std::move(built), std::move(report)};
}

MadePlan solve_plan(const Arguments& arguments) {
    const py::gil_scoped_release others_may_run;
    return make_plan(read_plan_options(parse_options(plan_option_set().written(), arguments)));
}

py::array_t<int> edges_of(const Topography& topography) {
    const auto edges = topography.graph.links();
    py::array_t<int> array({static_cast<py::ssize_t>(edges.size()), py::ssize_t{2}});
    int* next = array.mutable_data();
    for (const auto& [from, to] : edges) {
        *next++ = from;
        *next++ = to;
    }
    return array;
}

py::array_t<double> mixing_of(const Topography& topography) {
    return array_of(Eigen::MatrixXd(topography.mixing.sparse()));
}

/// R = scale^2 F F^T.
py::array_t<double> covariance_of(const MadePlan& made) {
    const Eigen::MatrixXd factor = made.plan().scale * made.plan().coefficient_matrix();
    return array_of(factor * factor.transpose());
}

const char* kind_of(const TemporalFactor& factor) {
    switch (factor.kind) {
        case TemporalFactor::Kind::dense:
            return "dense";
        case TemporalFactor::Kind::banded:
            return "banded";
        case TemporalFactor::Kind::one_lag:
            return "one_lag";
        default:
            return "identity";
    }
}

std::string report_of(const MadePlan& made) {
    return plan_report_json(made.planned,
                            made.config.plan,
                            made.counted.exposures,
                            made.counted.budgets,
                            made.sums,
                            made.bounds,
                            made.missed,
                            made.unrestricted);
}

}  // namespace

void bind_plan(py::module_& module) {
    py::class_<MadeGraph>(module, "Graph")
        .def(py::init(&make_graph), py::arg("arguments"))
        .def_property_readonly("agents",
                               [](const MadeGraph& g) { return g.built.topography.graph.agents(); })
        .def_property_readonly("edges",
                               [](const MadeGraph& g) { return edges_of(g.built.topography); })
        .def_property_readonly("mixing",
                               [](const MadeGraph& g) { return mixing_of(g.built.topography); })
        .def_property_readonly("description",
                               [](const MadeGraph& g) { return g.built.description; })
        .def_property_readonly("notes", [](const MadeGraph& g) { return g.built.notes; })
        .def_readonly("report_json", &MadeGraph::report);
    py::class_<MadePlan, std::shared_ptr<MadePlan>>(module, "Plan")
        .def(py::init(&solve_plan), py::arg("arguments"))
        .def_property_readonly("agents", [](const MadePlan& m) { return m.plan().agents; })
        .def_property_readonly("mechanism", [](const MadePlan& m) { return m.plan().mechanism; })
        .def_property_readonly("scale", [](const MadePlan& m) { return m.plan().scale; })
        .def_property_readonly("rounds", [](const MadePlan& m) { return m.config.plan.rounds; })
        .def_property_readonly("clip_norm",
                               [](const MadePlan& m) { return m.config.plan.clip_norm; })
        .def_property_readonly("edges",
                               [](const MadePlan& m) { return edges_of(m.built.topography); })
        .def_property_readonly("mixing",
                               [](const MadePlan& m) { return mixing_of(m.built.topography); })
        .def_property_readonly(
            "coefficients",
            [](const MadePlan& m) { return array_of(m.plan().coefficient_matrix()); })
        .def_property_readonly("covariance", covariance_of)
        .def_property_readonly("temporal_kind",
                               [](const MadePlan& m) { return kind_of(m.plan().temporal); })
        .def_property_readonly("temporal",
                               [](const MadePlan& m) { return array_of(m.plan().temporal.lower); })
        .def_property_readonly("statements",
                               [](const MadePlan& m) { return statements_of(m.record()); })
        .def_property_readonly("report_json", report_of)
        .def("to_json", [](const MadePlan& m) { return to_json(m.plan()); })
        .def(
            "save",
            [](const MadePlan& m, const std::string& path) {
                write_file_atomically(path, to_json(m.plan()));
            },
            py::arg("path"));
}

}  // namespace sotto::python
