#include "commands/report/report_page.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "audit/audit_options.hpp"
#include "core/files.hpp"
#include "options/option_set.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (std::size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
}

}  // namespace

void require_page_libraries() {
    for (const auto& [library, package] :
         {std::pair("chart.js", "libjs-chart.js"), std::pair("d3.js", "node-d3")})
        if (embedded_file(library).empty())
            throw ConfigError(fmt::format(
                "report: this sotto was built without {}, which draws the page; install Debian "
                "packages libjs-chart.js and node-d3 ({} is missing), then configure and build "
                "again",
                library,
                package));
}

std::string html_text(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '&')
            result += "&amp;";
        else
            result += c;
    }
    return result;
}

std::string refresh_html(int seconds) {
    if (seconds <= 0) return "";
    return fmt::format("<meta http-equiv=\"refresh\" content=\"{}\">\n", seconds);
}

std::string page_json(std::string data) {
    replace_all(data, "</", "<\\/");
    replace_all(data, "<!--", "<\\u0021--");
    return data;
}

std::string page_of(std::string_view frame, const std::map<std::string_view, std::string>& values) {
    std::string page;
    const std::string_view text = embedded_file(frame);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = std::min(text.find("{{", at), text.size());
        page += text.substr(at, begin - at);
        if (begin == text.size()) break;
        const std::size_t end = text.find("}}", begin);
        const std::string_view name = text.substr(begin + 2, end - begin - 2);
        const auto value = values.find(name);
        page += value != values.end() ? std::string_view(value->second) : embedded_file(name);
        at = end + 2;
    }
    return page;
}
}  // namespace sotto

namespace sotto::cli {
OptionGroup<PageOptions> page_options() {
    return option_group<PageOptions>(
        "Page",
        {{{{.name = "run-directory",
            .help = "DIR of the run",
            .positional = true,
            .reproduces_run = false},
           bound(&PageOptions::run_directory, folder_path())},
          {{.name = "out",
            .help = "FILE to write (default: in the run's directory, report.html by sotto report, "
                    "live.html by sotto watch)"},
           bound(&PageOptions::out, file_path())},
          {{.name = "coalition-size",
            .help = "largest size of coalitions that see every message (default: the largest with "
                    "at most 7000 observers)",
            .details = R"(
The page has figures of all coalitions up to this size that see every message. By default it has the sizes that give at
most 7000 observers: up to 4 of 20 agents, up to 2 of 100.)"},
           bound(&PageOptions::coalition_size, whole(0, 1000000))},
          {{.name = "time-limit",
            .help = "seconds after which no further observers are computed",
            .details = R"(
The page begins with what single agents learn from what their neighbours send, which gets half of the time. Coalitions
of such agents follow within a quarter of the time, and observers with every message until all of it is over. For
observers that were left out, the page shows what parts of them learn, and the command that computes them exactly; a
longer limit includes more of them. With secretly sampled batches, an observer takes up to 40 ms for every agent. If the
limit is not reached, two reports of a run are the same.)"},
           bound(&PageOptions::time_limit, real_between(0, 1e9))}}});
}

void require_run_named(std::string_view command, const PageOptions& options) {
    if (options.run_directory.empty())
        throw ConfigError(fmt::format(
            "{0}: which run? (example: sotto {0} runs/20261120-120000-pairs)", command));
}

ReportConfig report_config_of(const PageOptions& options, int threads) {
    ReportConfig config;
    config.directory = options.run_directory;
    config.run = train_config_of_run("--run-directory", options.run_directory);
    config.coalition_size = options.coalition_size;
    config.time_limit = options.time_limit;
    config.threads = threads;
    return config;
}

std::string page_file(const PageOptions& options, std::string_view name) {
    return options.out.value_or((std::filesystem::path(options.run_directory) / name).string());
}

void write_page(const PageOptions& options, const std::string& file, const std::string& page) {
    write_file_atomically(file, page, options.out ? Readers::everybody : Readers::owner);
}
}  // namespace sotto::cli
