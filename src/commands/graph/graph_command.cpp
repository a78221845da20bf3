#include <fmt/format.h>

#include "commands/cli/command.hpp"
#include "core/files.hpp"
#include "core/output.hpp"
#include "graph/edge_list.hpp"
#include "options/graph_options.hpp"
#include "options/option_parser.hpp"
#include "options/option_set.hpp"
#include "planning/build_topography.hpp"

namespace sotto::cli {

namespace {

struct GraphOptions {
    GraphConfig graph;
    std::optional<std::string> out;
};

OptionSet<GraphOptions> option_set_of_graph() {
    return OptionSet<GraphOptions>()
        .add(graph_options(), &GraphOptions::graph)
        .add(option_group<GraphOptions>("Output",
                                        {{{{.name = "out", .help = "write the edge list to FILE"},
                                           bound(&GraphOptions::out, file_path())}}}));
}

std::vector<WrittenGroup> options_of_graph() {
    return with_general(option_set_of_graph().written());
}

int graph_main(const std::vector<std::string>& arguments) {
    const OptionTexts given = parse_options(options_of_graph(), arguments);
    const GraphOptions config = option_set_of_graph().read(given);
    const GeneralOptions general = read_general(given);
    const BuiltTopography built = build_topography(config.graph, 1);
    const GraphReport report = describe_graph(built, config.graph.mixing);
    if (config.out) write_file_atomically(*config.out, format_edge_list(built.topography.graph));
    write_json(general, graph_report_json(report));
    if (std::FILE* out = report_stream(general)) {
        say(out, "{}", graph_report_text(report));
        if (config.out) say(out, "written  {}\n", *config.out);
    }
    return 0;
}

}  // namespace

Command graph_command() {
    return {
        .name = "graph",
        .summary = "make or inspect a graph and its mixing matrix",
        .example = "sotto graph --topology ring --agents 16 --mixing metropolis --out ring.edges",
        .description = R"(
Makes a graph of a topology, or reads an edge list, and prints how well its mixing matrix mixes: degrees, second eigenvalue, spectral
gap. An edge list has two labels per line.)",
        .options = options_of_graph,
        .run = graph_main};
}

}  // namespace sotto::cli
