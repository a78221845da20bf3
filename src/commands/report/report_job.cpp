#include "commands/report/report_job.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "commands/report/plain_statement.hpp"
#include "commands/report/report_account.hpp"
#include "commands/report/report_page.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "core/output.hpp"
#include "core/picture_style.hpp"
#include "core/stopwatch.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "store/recorded_ledger.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using TimeOfDay = std::chrono::system_clock;

/// The ledger as it was written. Without a manifest it is not verified, and the page says that the
/// manifest is missing. @throws DataError for a ledger that is missing, damaged or was changed.
Json ledger_in(const fs::path& directory) {
    if (fs::exists(directory / "manifest.json"))
        return json_from_text<Json>(read_sealed_ledger(directory));
    RunFile ledger = json_of_run(directory / "ledger.json");
    if (!ledger.problem.empty()) throw DataError(ledger.problem);
    return ledger.content;
}

/// Milliseconds since 1970, as JavaScript counts.
Json milliseconds(TimeOfDay::time_point time) {
    return std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

/// When the file was last written; null if there is none.
Json time_of(const fs::path& file) {
    std::error_code missing;
    const auto written = fs::last_write_time(file, missing);
    if (missing) return {};
    return milliseconds(std::chrono::time_point_cast<TimeOfDay::duration>(
        std::chrono::file_clock::to_sys(written)));
}

/// Collects the data of a page.
class ReportData {
  public:
    explicit ReportData(const ReportConfig& config) : config_(config) {}

    /// Adds what the files of the directory say. @throws DataError without a ledger.
    void add_files(bool live) {
        const auto& directory = config_.directory;
        data_["directory"] = directory.string();
        data_["program"] = fmt::format("sotto {} ({})", build_version(), build_commit());
        data_["options"] = options_of(read_file(directory / "config.ini"));
        data_["ledger"] = ledger_in(directory);
        data_["metrics"] = found(metrics_of_run(directory / "metrics.csv"));
        data_["manifest"] = without_keys(found(json_of_run(directory / "manifest.json")));
        const bool ended = fs::exists(directory / "summary.json");
        data_["summary"] = ended ? found(json_of_run(directory / "summary.json")) : Json();
        if (!ended && !live)
            report_.missing.emplace_back(
                "There is no summary.json, because the run has not ended or has failed. So it is "
                "not known how each rank spent its time.");
        const bool attacked = fs::exists(directory / "audit.json");
        data_["audit"] = attacked ? found(json_of_run(directory / "audit.json")) : Json();
        const auto failure = directory / "failure.txt";
        data_["failure"] = fs::exists(failure) ? Json(read_file(failure)) : Json();
    }

    /// @param account null: none yet.
    void add_account(const ReportAccount* account) {
        static const ReportAccount none;
        const ReportAccount& known = account == nullptr ? none : *account;
        data_["graph"] = known.graph;
        data_["views"] = known.views;
        data_["pictures"] = known.pictures;
        data_["left_out"] = report_.left_out = known.left_out;
        report_.observers = known.observers;
        report_.missing.insert(report_.missing.end(), known.missing.begin(), known.missing.end());
        if (account == nullptr)
            report_.missing.push_back(
                fmt::format("Graph, noise and what observers learn are being computed, in up to "
                            "{:g} seconds.",
                            config_.time_limit));
    }

    [[nodiscard]] Report finish(const std::optional<LivePage>& live) {
        data_["missing"] = report_.missing;
        data_["live"] = live ? Json{{"every", live->every},
                                    {"written", milliseconds(TimeOfDay::now())},
                                    {"evaluated", time_of(config_.directory / "metrics.csv")}}
                             : Json();
        const std::string title = html_text(config_.directory.filename().string());
        const std::string statement = plain_statement(
            {data_["ledger"], data_["manifest"], config_.run, data_["program"].get<std::string>()});
        report_.page = page_of(
            "report.html",
            {{"title", title},
             {"refresh", live ? refresh_html(live->every) : ""},
             {"statement", statement},
             {"glossary", glossary_html()},
             {"palette", Json(picture_style::colours).dump()},
             {"data", page_json(data_.dump(-1, ' ', false, Json::error_handler_t::replace))}});
        report_.statement =
            page_of("statement.html",
                    {{"title", title}, {"statement", statement}, {"glossary", glossary_html()}});
        return std::move(report_);
    }

  private:
    Json found(RunFile file) {
        if (!file.problem.empty()) report_.missing.push_back(std::move(file.problem));
        return std::move(file.content);
    }

    const ReportConfig& config_;
    Json data_;
    Report report_;
};

}  // namespace

Report make_page(const ReportConfig& config,
                 const ReportAccount* account,
                 const std::optional<LivePage>& live) {
    const auto start = Clock::now();
    require_page_libraries();
    ReportData data(config);
    data.add_files(live.has_value());
    data.add_account(account);
    Report report = data.finish(live);
    report.seconds = seconds_since(start) + (account == nullptr ? 0 : account->seconds);
    return report;
}

Report make_report(const ReportConfig& config) {
    require_page_libraries();
    const ReportAccount account = report_account(config, Clock::now());
    return make_page(config, &account, std::nullopt);
}
}  // namespace sotto

namespace sotto {
using Json = nlohmann::ordered_json;

namespace {

/// @throws DataError for a table without a line.
Json columns_of(const std::string& table, const std::string& source) {
    if (table.empty()) throw DataError(fmt::format("{}: it is empty", source));
    const auto lines = split(table, '\n');
    std::vector<std::string> names;
    Json columns = Json::object();
    for (const auto name : split(lines.front(), ','))
        columns[names.emplace_back(name)] = Json::array();
    for (std::size_t i = 1; i < lines.size(); ++i) {
        if (lines[i].empty()) continue;
        const auto cells = split(lines[i], ',');
        for (std::size_t c = 0; c < names.size(); ++c) {
            const Json value = c < cells.size() ? Json::parse(cells[c], nullptr, false) : Json();
            columns[names[c]].push_back(value.is_number() ? value : Json());
        }
    }
    return columns;
}

}  // namespace

RunFile json_of_run(const std::filesystem::path& file) {
    try {
        const std::string text = read_file(file);
        try {
            const JsonDocument document(text);
            (void)document.root().members();
            return {json_from_text<Json>(text), {}};
        } catch (const DataError& error) {
            return {{}, fmt::format("{}: it is damaged ({})", file.string(), error.what())};
        }
    } catch (const Error& error) {
        return {{}, error.what()};
    }
}

RunFile metrics_of_run(const std::filesystem::path& file) {
    try {
        return {columns_of(read_file(file), file.string()), {}};
    } catch (const Error& error) {
        return {Json::object(), error.what()};
    }
}

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
        // Pages are passed on, and anyone who knows the seed can remove all noise.
        const std::string value(option == "noise-seed" ? "given, not shown here"
                                                       : line.substr(equals + 3));
        groups.back()["options"].push_back({option, value});
    }
    std::erase_if(groups.get_ref<Json::array_t&>(),
                  [](const Json& group) { return group["options"].empty(); });
    return groups;
}

Json without_keys(Json manifest) {
    if (!manifest.is_object()) return manifest;
    for (const char* key : {"seed_commitments", "public_keys", "transcript"}) manifest.erase(key);
    return manifest;
}
}  // namespace sotto

namespace sotto::cli {
void print_report(std::FILE* stream, const Report& report, const std::string& path) {
    say(stream,
        "report     {} ({:.1f} MB, {} observers, {:.3g} s)\n",
        path,
        static_cast<double>(report.page.size()) / 1e6,
        report.observers,
        report.seconds);
    for (const std::string& line : report.missing) say(stream, "missing    {}\n", line);
    for (const std::string& line : report.left_out) say(stream, "left out   {}\n", line);
}

nlohmann::ordered_json json_of_report(const Report& report, const std::string& path) {
    nlohmann::ordered_json json;
    json["path"] = path;
    json["bytes"] = report.page.size();
    json["observers"] = report.observers;
    json["missing"] = report.missing;
    json["left_out"] = report.left_out;
    json["seconds"] = report.seconds;
    return json;
}
}  // namespace sotto::cli
