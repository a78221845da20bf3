#include "commands/report/report_account.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "commands/report/observer_words.hpp"
#include "commands/report/page_data.hpp"
#include "commands/report/report_figures.hpp"
#include "commands/report/report_noise.hpp"
#include "commands/report/run_files.hpp"
#include "planning/build_topography.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

namespace fs = std::filesystem;

/// Canaries are no training that can be taken up: there is a graph, and what the audit says.
void add_attacked_graph(ReportAccount& account, const ReportConfig& config) {
    const BuiltTopography built = build_topography(config.run.graph, config.run.plan);
    const RunFile manifest = json_of_run(config.directory / "manifest.json");
    if (manifest.content.is_object() &&
        manifest.content.value("graph_hash", "") == to_hex(built.topography.graph.hash()))
        account.graph = page_graph(built, {});
    else
        account.missing.emplace_back(
            "The graph is not shown: the one its options make now is not that of manifest.json.");
}

void add_figures(ReportAccount& account, const ReportConfig& config, Clock::time_point start) {
    const RecordedRun run = read_recorded_run(config.directory, config.run);
    account.graph = page_graph(run.built, run.history.phases.back().members.gone());
    for (const HeatMap& map : noise_pictures(run)) account.pictures.push_back(page_heat_map(map));
    const Graph& graph = run.built.topography.graph;
    for (const ObserverFigures& figures : report_figures(run, config, start)) {
        account.views.push_back(page_figures(figures, graph));
        account.observers += figures.observers;
        if (figures.out_of_time)
            account.left_out.push_back(fmt::format(
                "Observers with {}: {}", observer_words(figures.kind, graph).gist, figures.note));
    }
}

}  // namespace

ReportAccount report_account(const ReportConfig& config, Clock::time_point start) {
    ReportAccount account;
    if (fs::exists(config.directory / "audit.json") &&
        !fs::exists(config.directory / "history.json")) {
        add_attacked_graph(account, config);
    } else {
        try {
            add_figures(account, config, start);
        } catch (const DataError& error) {
            account.missing.push_back(fmt::format(
                "Graph, noise and what observers learn are not shown: {}", error.what()));
        }
    }
    account.seconds = seconds_since(start);
    return account;
}

}  // namespace sotto
