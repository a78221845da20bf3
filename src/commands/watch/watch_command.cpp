#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "commands/cli/command.hpp"
#include "commands/report/report_job.hpp"
#include "commands/report/report_page.hpp"
#include "commands/watch/watch_job.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "core/linear_algebra.hpp"
#include "core/output.hpp"
#include "options/option_parser.hpp"
#include "options/option_set.hpp"
#include "sotto/core/error.hpp"
#include "training/stop_signal.hpp"

namespace sotto::cli {

namespace {

namespace fs = std::filesystem;

struct WatchOptions {
    PageOptions page;
    int every = 2;
};

OptionSet<WatchOptions> option_set_of_watch() {
    return OptionSet<WatchOptions>()
        .add(page_options(), &WatchOptions::page)
        .add(option_group<WatchOptions>(
            "Watch",
            {{{{.name = "every",
                .help =
                    "seconds between two versions of the page, after which a browser reloads it",
                .details = R"(
If a page takes long to make, it is written less often, so that it takes no more than a twentieth of a processor.)"},
               bound(&WatchOptions::every, whole(1, 3600))}}}));
}

std::vector<WrittenGroup> options_of_watch() {
    return with_general(option_set_of_watch().written());
}

/// Prints a line and flushes it, also into a pipe.
template <class... Values>
void tell(std::FILE* stream, fmt::format_string<Values...> format, Values&&... values) {
    if (stream == nullptr) return;
    say(stream, format, std::forward<Values>(values)...);
    std::fflush(stream);
}

/// @return false as soon as a stop is requested.
bool wait(double seconds) {
    constexpr double between_looks = 0.1;
    const auto start = Clock::now();
    for (;;) {
        if (stop_requested()) return false;
        const double left = seconds - seconds_since(start);
        if (left <= 0) return true;
        std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, between_looks)));
    }
}

/// The directory need not exist yet: a training makes it after planning its noise, which may take
/// minutes. @throws ConfigError for a place where no run can begin.
void require_place_of_a_run(const fs::path& directory) {
    std::error_code unknown;
    if (fs::is_directory(directory, unknown)) return;
    if (fs::exists(directory, unknown))
        throw ConfigError(
            fmt::format("--run-directory: {} is not a directory", directory.string()));
    const fs::path above = fs::absolute(directory).lexically_normal();
    const fs::path parent =
        above.has_filename() ? above.parent_path() : above.parent_path().parent_path();
    if (!fs::is_directory(parent, unknown))
        throw ConfigError(fmt::format(
            "--run-directory: neither {} nor {} is there; name the directory of a run that goes "
            "on or is about to begin",
            directory.string(),
            parent.string()));
}

/// @return false if it was stopped.
bool wait_for_run(const fs::path& directory, std::FILE* stream) {
    constexpr double between_looks = 0.2;
    bool told = false;
    while (run_state(directory) == RunState::not_begun) {
        if (!told)
            tell(stream,
                 "waiting    for a run to begin in {} (press Ctrl-C to stop waiting)\n",
                 directory.string());
        told = true;
        if (!wait(between_looks)) return false;
    }
    return true;
}

/// @return nothing if it was stopped.
std::optional<Report> watch(const WatchOptions& asked, const std::string& out, std::FILE* stream) {
    if (!wait_for_run(asked.page.run_directory, stream)) return std::nullopt;
    require_writable(out);
    LiveReport live(report_config_of(asked.page, 1), asked.every, [&](const std::string& page) {
        write_page(asked.page, out, page);
    });
    std::optional<Report> last = live.update();
    if (!last) tell(stream, "live       {}; open it in a browser, it follows the run\n", out);
    while (!last) {
        if (!wait(live.pause())) {
            live.stop();
            end_when_stopped();
        }
        last = live.update();
    }
    return last;
}

int watch_main(const std::vector<std::string>& arguments) {
    const OptionTexts given = parse_options(options_of_watch(), arguments);
    const GeneralOptions general = read_general(given);
    require_json_writable(general);
    const WatchOptions asked = option_set_of_watch().read(given);
    require_run_named("watch", asked.page);
    require_page_libraries();
    require_place_of_a_run(asked.page.run_directory);
    // Trainings on this machine have priority.
    [[maybe_unused]] const int priority = ::nice(10);
    set_linear_algebra_threads(1);
    watch_for_stop();
    const std::string out = page_file(asked.page, "live.html");
    std::FILE* stream = report_stream(general);
    const std::optional<Report> last = watch(asked, out, stream);
    end_when_stopped();
    write_json(general, to_text(json_of_report(*last, out)));
    if (stream != nullptr) print_report(stream, *last, out);
    return 0;
}

}  // namespace

Command watch_command() {
    return {.name = "watch",
            .summary = "write the page of `sotto report` again and again while a training goes on",
            .example = "sotto watch runs/20261120-120000-pairs",
            .description = R"(
Writes the page of `sotto report` every two seconds while a training goes on, and a last time when it has ended, and then ends. A
browser that shows the page reloads it by itself. There is no server: the page is a file, which only its owner can read. The training
is not affected: its files are read, and its directory is not locked. If no training has begun yet, the command waits.)",
            .files = {{"DIR/live.html", "the page, unless `--out` names another file"}},
            .options = options_of_watch,
            .run = watch_main};
}

}  // namespace sotto::cli
