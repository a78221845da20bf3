#include "commands/report/report_job.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <nlohmann/json.hpp>

#include "commands/report/report_page.hpp"
#include "run/run_directory.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/json_input.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/stopwatch.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

std::string base64(const std::vector<float>& values) {
    const std::size_t bytes = values.size() * sizeof(float);
    std::string text(sodium_base64_ENCODED_LEN(bytes, sodium_base64_VARIANT_ORIGINAL), '\0');
    sodium_bin2base64(text.data(),
                      text.size(),
                      reinterpret_cast<const unsigned char*>(values.data()),
                      bytes,
                      sodium_base64_VARIANT_ORIGINAL);
    text.pop_back();  // the terminating zero
    return text;
}

/// A JSON file of the run as it is; null, and a line in `missing`, where there is none to read.
Json file_of_run(const std::filesystem::path& file, std::vector<std::string>& missing) {
    try {
        return json_from_text<Json>(read_file(file));
    } catch (const Error& error) {
        missing.emplace_back(error.what());
    } catch (const nlohmann::json::exception& error) {
        missing.push_back(fmt::format("{}: it is damaged ({})", file.string(), error.what()));
    }
    return {};
}

/// Sections of an INI file as sotto writes it: "# Title" before the options of a group.
Json options_of(const std::string& ini) {
    Json groups = Json::array();
    for (const auto line : split(ini, '\n')) {
        if (line.starts_with("# ")) {
            groups.push_back({{"title", std::string(line.substr(2))}, {"options", Json::array()}});
            continue;
        }
        const std::size_t equals = line.find(" = ");
        if (equals == std::string::npos || groups.empty()) continue;
        const std::string option(line.substr(0, equals));
        // Whoever knows it can remove all noise, and pages are handed on.
        const std::string value(option == "noise-seed" ? "given, not shown here"
                                                       : line.substr(equals + 3));
        groups.back()["options"].push_back({option, value});
    }
    std::erase_if(groups.get_ref<Json::array_t&>(),
                  [](const Json& group) { return group["options"].empty(); });
    return groups;
}

/// metrics.csv by columns; what was not measured is null.
Json metrics_of(const std::filesystem::path& file, std::vector<std::string>& missing) {
    Json columns = Json::object();
    try {
        const std::string table = read_file(file);
        if (table.empty()) throw DataError(fmt::format("{}: it is empty", file.string()));
        const auto lines = split(table, '\n');
        std::vector<std::string> names;
        for (const auto name : split(lines.front(), ','))
            columns[names.emplace_back(name)] = Json::array();
        for (std::size_t i = 1; i < lines.size(); ++i) {
            if (lines[i].empty()) continue;
            const auto cells = split(lines[i], ',');
            for (std::size_t c = 0; c < names.size(); ++c) {
                const Json value =
                    c < cells.size() ? Json::parse(cells[c], nullptr, false) : Json();
                columns[names[c]].push_back(value.is_number() ? value : Json());
            }
        }
    } catch (const Error& error) {
        missing.emplace_back(error.what());
    }
    return columns;
}

Json graph_of(const RecordedRun& run) {
    const Graph& graph = run.built.topography.graph;
    Json json;
    json["description"] = run.built.description;
    json["notes"] = run.built.notes;
    json["labels"] = Json::array();
    for (int u = 0; u < graph.agents(); ++u) json["labels"].push_back(graph.label(u));
    json["edges"] = Json::array();
    for (const auto& [u, v] : graph.edges()) json["edges"].push_back({u, v});
    json["gone"] = run.history.phases.back().members.gone();
    return json;
}

Json figures_json(const ObserverFigures& figures) {
    return {{"view", figures.kind == View::Kind::all_messages ? "all-messages" : "partial"},
            {"secure_sum", figures.kind == View::Kind::secure_sum},
            {"argument", figures.argument.text},
            {"sound", figures.argument.sound},
            {"smallest", figures.smallest},
            {"observers", figures.observers},
            {"note", figures.note},
            {"epsilon", base64(figures.epsilon)}};
}

Json heat_map_json(const HeatMap& map) {
    std::vector<float> values;
    for (Eigen::Index i = 0; i < map.values.rows(); ++i)
        for (Eigen::Index j = 0; j < map.values.cols(); ++j)
            values.push_back(static_cast<float>(map.values(i, j)));
    return {{"title", map.title},
            {"unit", map.unit},
            {"text", map.text},
            {"axes", {map.rows, map.columns}},
            {"names", map.names},
            {"values", base64(values)}};
}

/// The manifest without keys and commitments, which nobody reads in a page.
Json essentials(Json manifest) {
    for (const char* key : {"seed_commitments", "public_keys", "transcript"}) manifest.erase(key);
    return manifest;
}

}  // namespace

Report make_report(const ReportConfig& config) {
    const auto start = Clock::now();
    require_page_libraries();
    Report report;
    std::vector<std::string>& missing = report.missing;
    const auto& directory = config.directory;
    Json data;
    data["directory"] = directory.string();
    data["program"] = fmt::format("sotto {} ({})", build_version(), build_commit());
    data["options"] = options_of(read_file(directory / "config.ini"));
    data["ledger"] = file_of_run(directory / "ledger.json", missing);
    if (!missing.empty()) throw DataError(missing.front());
    data["metrics"] = metrics_of(directory / "metrics.csv", missing);
    data["manifest"] = essentials(file_of_run(directory / "manifest.json", missing));
    const bool ended = std::filesystem::exists(directory / "summary.json");
    data["summary"] = ended ? file_of_run(directory / "summary.json", missing) : Json();
    if (!ended)
        missing.emplace_back(
            "There is no summary.json: the run has not ended, or ended in a failure. So it is not "
            "known where time went on every rank.");
    const auto failure = directory / "failure.txt";
    data["failure"] = std::filesystem::exists(failure) ? Json(read_file(failure)) : Json();
    data["graph"] = Json();
    data["views"] = Json::array();
    data["pictures"] = Json::array();
    try {
        const RecordedRun run = read_recorded_run(directory, config.run);
        data["graph"] = graph_of(run);
        data["rounds"] = run.rounds;
        for (const HeatMap& map : noise_pictures(run))
            data["pictures"].push_back(heat_map_json(map));
        for (const ObserverFigures& figures : report_figures(run, config)) {
            data["views"].push_back(figures_json(figures));
            report.observers += figures.observers;
        }
    } catch (const DataError& error) {
        missing.push_back(
            fmt::format("Graph, noise and what observers learn are not shown: {}", error.what()));
    }
    data["missing"] = missing;
    report.page = page_of(directory.filename().string(), data.dump());
    report.seconds = seconds_since(start);
    return report;
}

}  // namespace sotto
