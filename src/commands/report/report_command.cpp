#include <nlohmann/json.hpp>

#include "commands/cli/command.hpp"
#include "commands/report/report_job.hpp"
#include "commands/report/report_page.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "core/linear_algebra.hpp"
#include "options/option_parser.hpp"
#include "options/option_set.hpp"
#include "training/job.hpp"

namespace sotto::cli {

namespace {

struct ReportOptions {
    PageOptions page;
    std::optional<std::string> statement;
    int asked_threads = 0;
};

OptionSet<ReportOptions> option_set_of_report() {
    return OptionSet<ReportOptions>()
        .add(page_options(), &ReportOptions::page)
        .add(option_group<ReportOptions>(
            "Report",
            {{{{.name = "statement",
                .help = "FILE for the plain statement alone, one printed page for whoever decides "
                        "about the run (default: a section of the page only)"},
               bound(&ReportOptions::statement, file_path())},
              {{.name = "threads", .help = "threads (0: all cores)", .changes_results = false},
               bound(&ReportOptions::asked_threads, whole(0, 4096))}}}));
}

std::vector<WrittenGroup> options_of_report() {
    return with_general(option_set_of_report().written());
}

int report_main(const std::vector<std::string>& arguments) {
    const OptionTexts given = parse_options(options_of_report(), arguments);
    const GeneralOptions general = read_general(given);
    require_json_writable(general);
    const ReportOptions asked = option_set_of_report().read(given);
    require_run_named("report", asked.page);
    const ReportConfig config =
        report_config_of(asked.page, granted_threads(asked.asked_threads, true));
    const std::string out = page_file(asked.page, "report.html");
    require_writable(out);
    if (asked.statement) require_writable(*asked.statement);
    set_linear_algebra_threads(config.threads);
    const Report report = make_report(config);
    write_page(asked.page, out, report.page);
    if (asked.statement) write_file_atomically(*asked.statement, report.statement);
    nlohmann::ordered_json json = json_of_report(report, out);
    if (asked.statement) json["statement"] = *asked.statement;
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
Writes one self-contained page about a run, which opens without a network: losses, privacy spent, noise and time, and the graph,
where a click on an agent shows what it learns about the others. It can be made while a run goes on, and after it failed.)",
            .files = {{"DIR/report.html", "the page, unless `--out` names another file"}},
            .options = options_of_report,
            .run = report_main};
}

}  // namespace sotto::cli
