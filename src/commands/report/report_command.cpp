#include "commands/report/report_command.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "commands/cli/general_options.hpp"
#include "commands/cli/job.hpp"
#include "commands/cli/option_parser.hpp"
#include "commands/cli/output.hpp"
#include "commands/cli/run_of_directory.hpp"
#include "commands/report/report_job.hpp"
#include "core/json_output.hpp"
#include "run/options/option_bindings.hpp"
#include "run/options/option_set.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/linear_algebra.hpp"

namespace sotto::cli {

namespace {

struct ReportOptions {
    std::string run_directory;
    std::optional<std::string> out;
    std::optional<std::string> statement;
    int asked_threads = 0;
    ReportConfig report;
};

std::vector<Option<ReportOptions>> report_options() {
    return {
        {{.name = "run-directory",
          .help = "DIR of the run",
          .positional = true,
          .reproduces_run = false},
         bound(&ReportOptions::run_directory, folder_path())},
        {{.name = "out", .help = "FILE to write (default: report.html in the run's directory)"},
         bound(&ReportOptions::out, file_path())},
        {{.name = "coalition-size",
          .help = "coalitions up to this size that see every message (default: as many sizes as "
                  "make 7000 observers)",
          .details = R"(
Figures of all coalitions up to this size that see every message. The default are sizes that make at most 7000
observers: 4 of 20 agents, 2 of 100.)"},
         bound(
             [](auto& c) -> auto& { return c.report.coalition_size; }, whole(0, 1000000))},
        {{.name = "time-limit",
          .help = "seconds after which no further observer is looked at",
          .details = R"(
The page begins with what single agents learn from what their neighbours send, which gets half of the time; coalitions of
them come after it within a quarter, observers with every message until all of it is over. Of those that were left out the page
shows what parts of them learn, and the command that says it exactly; a longer limit has more. With secretly sampled
batches an observer takes up to 40 ms for every agent. Where the limit is not reached two reports of a run are the same.)"},
         bound(
             [](auto& c) -> auto& { return c.report.time_limit; }, real_between(0, 1e9))},
        {{.name = "statement",
          .help = "FILE for the plain statement alone, one printed page for who decides about the "
                  "run (default: only a section of the page)"},
         bound(&ReportOptions::statement, file_path())},
        {{.name = "threads", .help = "threads (0: all cores)", .changes_results = false},
         bound(&ReportOptions::asked_threads, whole(0, 4096))}};
}

OptionSet<ReportOptions> option_set() {
    return OptionSet<ReportOptions>().add(
        option_group<ReportOptions>("Report", {report_options()}));
}

std::vector<WrittenGroup> options() { return with_general(option_set().written()); }

ReportConfig read_report_config(const ReportOptions& options) {
    if (options.run_directory.empty())
        throw ConfigError("report: which run? (example: sotto report runs/20261120-120000-pairs)");
    ReportConfig config = options.report;
    config.directory = options.run_directory;
    config.run = train_config_of_run("--run-directory", options.run_directory);
    config.threads = granted_threads(options.asked_threads, true);
    return config;
}

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

int run(const std::vector<std::string>& arguments) {
    const OptionTexts given = parse_options(options(), arguments);
    const GeneralOptions general = read_general(given);
    require_json_writable(general);
    const ReportOptions asked = option_set().read(given);
    const ReportConfig config = read_report_config(asked);
    const std::string out = asked.out.value_or((config.directory / "report.html").string());
    require_writable(out);
    if (asked.statement) require_writable(*asked.statement);
    set_linear_algebra_threads(config.threads);
    const Report report = make_report(config);
    // Beside the run it is as private as the run; elsewhere its reader decides.
    write_file_atomically(out, report.page, asked.out ? Readers::everybody : Readers::owner);
    if (asked.statement) write_file_atomically(*asked.statement, report.statement);
    nlohmann::ordered_json json;
    json["path"] = out;
    json["bytes"] = report.page.size();
    json["observers"] = report.observers;
    if (asked.statement) json["statement"] = *asked.statement;
    json["missing"] = report.missing;
    json["left_out"] = report.left_out;
    json["seconds"] = report.seconds;
    write_json(general, to_text(json));
    if (std::FILE* stream = report_stream(general)) print_report(stream, report, out);
    return 0;
}

}  // namespace

Command report_command() {
    return {.name = "report",
            .summary = "write a page about a run: losses, privacy, the graph and who learns what",
            .example = "sotto report runs/20261120-120000-pairs --out report.html",
            .description = R"(
Writes one page about a run that holds everything it shows and opens without a network: losses, privacy spent, noise and time, and
the graph, where a click on an agent shows what it learns about the others. It can be made while a run goes on, and after it failed.)",
            .files = {{"DIR/report.html", "the page, where `--out` names no other"}},
            .options = options,
            .run = run};
}

}  // namespace sotto::cli
