#include "commands/report/report_job.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "commands/report/glossary.hpp"
#include "commands/report/plain_statement.hpp"
#include "commands/report/report_page.hpp"
#include "commands/report/run_files.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/json_input.hpp"
#include "sotto/core/stopwatch.hpp"
#include "store/ledger_digest.hpp"

namespace sotto {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using TimeOfDay = std::chrono::system_clock;

/// As it was written; where there is no manifest nothing vouches for it, and the page says that the
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

/// When the file was last written; null where there is none.
Json time_of(const fs::path& file) {
    std::error_code missing;
    const auto written = fs::last_write_time(file, missing);
    if (missing) return {};
    return milliseconds(std::chrono::time_point_cast<TimeOfDay::duration>(
        std::chrono::file_clock::to_sys(written)));
}

/// A page in the making.
class ReportData {
  public:
    explicit ReportData(const ReportConfig& config) : config_(config) {}

    /// What the files of the directory say by themselves. @throws DataError without a ledger.
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
                "There is no summary.json: the run has not ended, or ended in a failure. So it is "
                "not known where time went on every rank.");
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
