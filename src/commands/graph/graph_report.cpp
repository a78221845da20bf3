#include "commands/graph/graph_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/json_output.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/graph/spectrum.hpp"

namespace sotto {

GraphReport describe_graph(const BuiltTopography& built, std::string mixing) {
    const Graph& graph = built.topography.graph;
    GraphReport report;
    report.description = built.description;
    report.notes = built.notes;
    report.mixing = std::move(mixing);
    report.agents = graph.agents();
    report.edges = graph.edges().size();
    report.connected = graph.connected();
    report.degree_min = report.degree_max = graph.degree(0);
    for (int u = 1; u < graph.agents(); ++u) {
        report.degree_min = std::min(report.degree_min, graph.degree(u));
        report.degree_max = std::max(report.degree_max, graph.degree(u));
    }
    report.lambda2 = second_eigenvalue_modulus(built.topography.mixing);
    report.doubly_stochastic = built.topography.mixing.doubly_stochastic();
    report.graph_hash = to_hex(graph.hash());
    return report;
}

std::string graph_report_json(const GraphReport& report) {
    nlohmann::ordered_json json;
    json["agents"] = report.agents;
    json["edges"] = report.edges;
    json["connected"] = report.connected;
    json["mixing"] = report.mixing;
    json["lambda2"] = report.lambda2;
    json["spectral_gap"] = 1 - report.lambda2;
    json["degree_min"] = report.degree_min;
    json["degree_max"] = report.degree_max;
    json["doubly_stochastic"] = report.doubly_stochastic;
    json["graph_hash"] = report.graph_hash;
    json["notes"] = report.notes;
    return to_text(json);
}

std::string graph_report_text(const GraphReport& report) {
    std::string text = fmt::format("graph    {}\n", report.description);
    for (const auto& note : report.notes) text += fmt::format("note     {}\n", note);
    text += fmt::format("agents   {}, {} edges, connected, degree {} to {}\n",
                        report.agents,
                        report.edges,
                        report.degree_min,
                        report.degree_max);
    text += fmt::format("mixing   {} ({}), lambda2 {:.10g}, spectral gap {:.10g}\n",
                        report.mixing,
                        report.doubly_stochastic ? "doubly stochastic" : "row-stochastic",
                        report.lambda2,
                        1 - report.lambda2);
    return text;
}

}  // namespace sotto
