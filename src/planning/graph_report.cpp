#include "planning/graph_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/json_output.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/graph/push_sum.hpp"
#include "sotto/graph/spectrum.hpp"

namespace sotto {

namespace {

const char* kind_of(const GraphReport& report) {
    if (report.doubly_stochastic) return "doubly stochastic";
    return report.push_sum ? "column-stochastic" : "row-stochastic";
}

}  // namespace

GraphReport describe_graph(const BuiltTopography& built, std::string mixing) {
    const Graph& graph = built.topography.graph;
    GraphReport report;
    report.description = built.description;
    report.notes = built.notes;
    report.mixing = std::move(mixing);
    report.agents = graph.agents();
    report.edges = graph.links().size();
    report.directed = graph.directed();
    report.connected = graph.connected();
    const auto heard = [&](int u) { return static_cast<int>(graph.heard(u).size()); };
    report.degree_min = report.degree_max = heard(0);
    for (int u = 1; u < graph.agents(); ++u) {
        report.degree_min = std::min(report.degree_min, heard(u));
        report.degree_max = std::max(report.degree_max, heard(u));
    }
    const MixingMatrix& weights = built.topography.mixing;
    report.lambda2 = second_eigenvalue_modulus(weights);
    report.doubly_stochastic = weights.doubly_stochastic();
    report.push_sum = weights.push_sum();
    const Eigen::VectorXd perron = graph.agents() * perron_vector(weights);
    report.perron_min = perron.minCoeff();
    report.perron_max = perron.maxCoeff();
    report.graph_hash = to_hex(graph.hash());
    return report;
}

std::string graph_report_json(const GraphReport& report) {
    nlohmann::ordered_json json;
    json["agents"] = report.agents;
    json["edges"] = report.edges;
    json["directed"] = report.directed;
    json["connected"] = report.connected;
    json["mixing"] = report.mixing;
    json["lambda2"] = report.lambda2;
    json["spectral_gap"] = 1 - report.lambda2;
    json["degree_min"] = report.degree_min;
    json["degree_max"] = report.degree_max;
    json["doubly_stochastic"] = report.doubly_stochastic;
    json["perron_min"] = report.perron_min;
    json["perron_max"] = report.perron_max;
    json["graph_hash"] = report.graph_hash;
    json["notes"] = report.notes;
    return to_text(json);
}

std::string graph_report_text(const GraphReport& report) {
    std::string text = fmt::format("graph    {}\n", report.description);
    for (const auto& note : report.notes) text += fmt::format("note     {}\n", note);
    text += fmt::format("agents   {}, {} {}connected, {} {} to {}\n",
                        report.agents,
                        report.edges,
                        report.directed ? "directed edges, strongly " : "edges, ",
                        report.directed ? "everyone hears" : "degree",
                        report.degree_min,
                        report.degree_max);
    text += fmt::format("mixing   {} ({}), lambda2 {:.10g}, spectral gap {:.10g}\n",
                        report.mixing,
                        kind_of(report),
                        report.lambda2,
                        1 - report.lambda2);
    if (report.doubly_stochastic) return text;
    const std::string range = fmt::format("{:.4g} to {:.4g}", report.perron_min, report.perron_max);
    text += report.push_sum
                ? fmt::format("weights  {} of push-sum; all agents count alike\n", range)
                : fmt::format(
                      "weights  agents count {} times as much as all would alike in what "
                      "they come to\n",
                      range);
    return text;
}

}  // namespace sotto
