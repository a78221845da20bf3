#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "commands/cli/command.hpp"
#include "commands/report/report_job.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/names.hpp"

namespace sotto::cli {

namespace {

std::vector<OptionGroup> options() {
    return {{"Report",
             {{"run-directory", "", "DIR of the run", Option::Kind::value, false, true},
              {"out", "", "FILE to write (default: report.html in the run's directory)"},
              {"coalition-size",
               "",
               "coalitions up to this size that see every message (default: as many sizes as make "
               "7000 observers)"},
              {"partial-seconds",
               "100",
               "time for partial views of single agents; coalitions get a tenth of it"},
              {"threads", "0", "threads (0: all cores)"}}},
            common_options()};
}

int run(const std::vector<std::string>& arguments) {
    const ParsedOptions parsed(options(), arguments);
    require_json_writable(parsed);
    if (!parsed.has("run-directory"))
        throw ConfigError("report: which run? (example: sotto report runs/20261120-120000-pairs)");
    ReportConfig config;
    config.directory = parsed.text("run-directory");
    const std::filesystem::path out = parsed.has("out") ? std::filesystem::path(parsed.text("out"))
                                                        : config.directory / "report.html";
    config.run = train_config_of_run("--run-directory", config.directory.string());
    require_writable(out.string());
    if (parsed.has("coalition-size")) {
        const long size = parsed.integer("coalition-size", 0);
        require_in_range("--coalition-size", static_cast<double>(size), 0, 1e6);
        config.coalition_size = static_cast<int>(size);
    }
    config.partial_seconds = parsed.real("partial-seconds");
    require_in_range("--partial-seconds", config.partial_seconds, 0, 1e9);
    const long threads = parsed.integer("threads", 0);
    require_in_range("--threads", static_cast<double>(threads), 0, 4096);
    config.threads = threads > 0
                         ? static_cast<int>(threads)
                         : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    set_linear_algebra_threads(config.threads);

    const Report report = make_report(config);
    write_file_atomically(out.string(), report.page);
    nlohmann::ordered_json json;
    json["path"] = out.string();
    json["bytes"] = report.page.size();
    json["observers"] = report.observers;
    json["missing"] = report.missing;
    json["seconds"] = report.seconds;
    write_json(parsed, json.dump(2) + "\n");
    if (std::FILE* stream = report_stream(parsed)) {
        fmt::print(stream,
                   "report     {} ({:.1f} MB, {} observers, {:.3g} s)\n",
                   out.string(),
                   static_cast<double>(report.page.size()) / 1e6,
                   report.observers,
                   report.seconds);
        for (const std::string& line : report.missing) fmt::print(stream, "missing    {}\n", line);
    }
    return 0;
}

}  // namespace

Command report_command() {
    return {"report",
            "write a page about a run: losses, privacy, the graph and who learns what",
            "sotto report runs/20261120-120000-pairs --out report.html",
            options,
            false,
            run};
}

}  // namespace sotto::cli
