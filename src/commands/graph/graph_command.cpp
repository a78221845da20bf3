#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "commands/cli/command.hpp"
#include "run/build_topography.hpp"
#include "sotto/core/files.hpp"

namespace sotto::cli {

namespace {

std::vector<OptionGroup> options() {
    return {graph_options(),
            {"Output", {{"out", "", "write the edge list to FILE"}}},
            common_options()};
}

int run(const std::vector<std::string>& arguments) {
    const ParsedOptions parsed(options(), arguments);
    const BuiltTopography built = build_topography(read_graph_config(parsed), 1);
    const Graph& graph = built.topography.graph;
    const double lambda2 = second_eigenvalue_modulus(built.topography.mixing);
    int smallest = graph.degree(0), largest = graph.degree(0);
    for (int u = 1; u < graph.agents(); ++u) {
        smallest = std::min(smallest, graph.degree(u));
        largest = std::max(largest, graph.degree(u));
    }
    if (parsed.has("out")) write_file_atomically(parsed.text("out"), format_edge_list(graph));

    nlohmann::ordered_json json;
    json["agents"] = graph.agents();
    json["edges"] = graph.edges().size();
    json["connected"] = graph.connected();
    json["mixing"] = parsed.text("mixing");
    json["lambda2"] = lambda2;
    json["spectral_gap"] = 1 - lambda2;
    json["degree_min"] = smallest;
    json["degree_max"] = largest;
    json["doubly_stochastic"] = built.topography.mixing.doubly_stochastic();
    json["graph_hash"] = to_hex(graph.hash());
    json["notes"] = built.notes;
    write_json(parsed, json.dump(2) + "\n");
    if (std::FILE* out = report_stream(parsed)) {
        fmt::print(out, "graph    {}\n", built.description);
        for (const auto& note : built.notes) fmt::print(out, "note     {}\n", note);
        fmt::print(out,
                   "agents   {}, {} edges, connected, degree {} to {}\n",
                   graph.agents(),
                   graph.edges().size(),
                   smallest,
                   largest);
        fmt::print(
            out,
            "mixing   {} ({}), lambda2 {:.10g}, spectral gap {:.10g}\n",
            parsed.text("mixing"),
            built.topography.mixing.doubly_stochastic() ? "doubly stochastic" : "row-stochastic",
            lambda2,
            1 - lambda2);
        if (parsed.has("out")) fmt::print(out, "written  {}\n", parsed.text("out"));
    }
    return 0;
}

}  // namespace

Command graph_command() {
    return {"graph",
            "make or inspect a graph and its mixing matrix",
            "sotto graph --topology ring --agents 16 --mixing metropolis --out ring.edges",
            options,
            false,
            run};
}

}  // namespace sotto::cli
