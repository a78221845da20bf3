#include "commands/report/report_job.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/report/glossary.hpp"
#include "commands/report/observer_words.hpp"
#include "commands/report/page_data.hpp"
#include "commands/report/plain_statement.hpp"
#include "commands/report/report_figures.hpp"
#include "commands/report/report_noise.hpp"
#include "commands/report/report_page.hpp"
#include "commands/report/run_files.hpp"
#include "run/build_topography.hpp"
#include "run/ledger_digest.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/json_input.hpp"
#include "sotto/core/stopwatch.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

/// As it was written; where there is no manifest nothing vouches for it, and the page says that the
/// manifest is missing. @throws DataError for a ledger that is missing, damaged or was changed.
Json ledger_in(const std::filesystem::path& directory) {
    if (std::filesystem::exists(directory / "manifest.json"))
        return json_from_text<Json>(read_sealed_ledger(directory));
    RunFile ledger = json_of_run(directory / "ledger.json");
    if (!ledger.problem.empty()) throw DataError(ledger.problem);
    return ledger.content;
}

/// A page in the making.
class ReportData {
  public:
    ReportData(const ReportConfig& config, Clock::time_point start)
        : config_(config), start_(start) {}

    /// What the files of the directory say by themselves. @throws DataError without a ledger.
    void add_files() {
        const auto& directory = config_.directory;
        data_["directory"] = directory.string();
        data_["program"] = fmt::format("sotto {} ({})", build_version(), build_commit());
        data_["options"] = options_of(read_file(directory / "config.ini"));
        data_["ledger"] = ledger_in(directory);
        data_["metrics"] = found(metrics_of_run(directory / "metrics.csv"));
        data_["manifest"] = without_keys(found(json_of_run(directory / "manifest.json")));
        const bool ended = std::filesystem::exists(directory / "summary.json");
        data_["summary"] = ended ? found(json_of_run(directory / "summary.json")) : Json();
        if (!ended)
            report_.missing.emplace_back(
                "There is no summary.json: the run has not ended, or ended in a failure. So it is "
                "not known where time went on every rank.");
        const bool attacked = std::filesystem::exists(directory / "audit.json");
        data_["audit"] = attacked ? found(json_of_run(directory / "audit.json")) : Json();
        const auto failure = directory / "failure.txt";
        data_["failure"] = std::filesystem::exists(failure) ? Json(read_file(failure)) : Json();
    }

    /// Graph, noise and what observers learn.
    void add_account() {
        data_["graph"] = Json();
        data_["views"] = Json::array();
        data_["pictures"] = Json::array();
        if (data_["audit"].is_object() &&
            !std::filesystem::exists(config_.directory / "history.json"))
            return add_attacked_graph();
        try {
            const RecordedRun run = read_recorded_run(config_.directory, config_.run);
            data_["graph"] = page_graph(run.built, run.history.phases.back().members.gone());
            for (const HeatMap& map : noise_pictures(run))
                data_["pictures"].push_back(page_heat_map(map));
            const Graph& graph = run.built.topography.graph;
            for (const ObserverFigures& figures : report_figures(run, config_, start_)) {
                data_["views"].push_back(page_figures(figures, graph));
                report_.observers += figures.observers;
                if (figures.out_of_time)
                    report_.left_out.push_back(fmt::format("Observers with {}: {}",
                                                           observer_words(figures.kind, graph).gist,
                                                           figures.note));
            }
        } catch (const DataError& error) {
            report_.missing.push_back(fmt::format(
                "Graph, noise and what observers learn are not shown: {}", error.what()));
        }
    }

    [[nodiscard]] Report finish() {
        data_["missing"] = report_.missing;
        data_["left_out"] = report_.left_out;
        const std::string title = html_text(config_.directory.filename().string());
        const std::string statement = plain_statement(
            {data_["ledger"], data_["manifest"], config_.run, data_["program"].get<std::string>()});
        report_.page = page_of(
            "report.html",
            {{"title", title},
             {"statement", statement},
             {"glossary", glossary_html()},
             {"data", page_json(data_.dump(-1, ' ', false, Json::error_handler_t::replace))}});
        report_.statement =
            page_of("statement.html",
                    {{"title", title}, {"statement", statement}, {"glossary", glossary_html()}});
        return std::move(report_);
    }

  private:
    /// Canaries are no training that can be taken up: there is a graph, and what the audit says.
    void add_attacked_graph() {
        const BuiltTopography built = build_topography(config_.run.graph, config_.run.plan);
        const Json& manifest = data_["manifest"];
        if (manifest.is_object() &&
            manifest.value("graph_hash", "") == to_hex(built.topography.graph.hash()))
            data_["graph"] = page_graph(built, {});
        else
            report_.missing.emplace_back(
                "The graph is not shown: the one its options make now is not that of "
                "manifest.json.");
    }

    Json found(RunFile file) {
        if (!file.problem.empty()) report_.missing.push_back(std::move(file.problem));
        return std::move(file.content);
    }

    const ReportConfig& config_;
    Clock::time_point start_;
    Json data_;
    Report report_;
};

}  // namespace

Report make_report(const ReportConfig& config) {
    const auto start = Clock::now();
    require_page_libraries();
    ReportData data(config, start);
    data.add_files();
    data.add_account();
    Report report = data.finish();
    report.seconds = seconds_since(start);
    return report;
}

}  // namespace sotto
