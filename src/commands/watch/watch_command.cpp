#include "commands/watch/watch_command.hpp"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "commands/cli/command.hpp"
#include "commands/report/report_job.hpp"
#include "commands/report/report_page.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "core/linear_algebra.hpp"
#include "core/output.hpp"
#include "options/option_parser.hpp"
#include "options/option_set.hpp"
#include "sotto/core/error.hpp"
#include "training/stop_signal.hpp"

namespace sotto {

namespace {

/// A new account waits so many times as long as the last one took.
constexpr double rest_per_work = 10;

}  // namespace

void LiveAccount::begin() {
    next_ =
        std::async(std::launch::async, [this] { return report_account(config_, Clock::now()); });
}

bool LiveAccount::take() {
    if (!next_.valid()) return true;
    if (next_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
    last_ = next_.get();
    taken_ = Clock::now();
    return true;
}

void LiveAccount::follow(const std::string& ledger) {
    if (!take()) return;
    const bool rested = !last_ || seconds_since(taken_) >= rest_per_work * last_->seconds;
    const bool current = last_ && ledger == ledger_ && last_->missing.empty();
    if (current || !rested) return;
    ledger_ = ledger;
    begin();
}

bool LiveAccount::finish() {
    if (!take()) return false;
    if (final_) return true;
    final_ = true;
    begin();
    return false;
}

namespace {

/// How long after an interruption or failure the run still counts as going on: when agents leave or
/// join it is interrupted for a moment. [s]
constexpr double pause_of_a_run = 5;

/// How long unreadable files are tolerated; each file is replaced in one step. [s]
constexpr double patience = 30;

/// Pages take at most a twentieth of a processor's time.
constexpr double rest_per_page = 20;

/// The CPU time of this thread [s].
double processor_seconds() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace

LiveReport::LiveReport(ReportConfig config, int every, Write write)
    : config_(std::move(config)), every_(every), write_(std::move(write)), account_(config_) {}

double LiveReport::pause() const {
    return std::max(static_cast<double>(every_), rest_per_page * cost_);
}

bool LiveReport::has_ended() {
    const RunState state = run_state(config_.directory);
    if (state != RunState::stopped) stopped_.reset();
    if (state == RunState::stopped && !stopped_) stopped_ = Clock::now();
    return state == RunState::completed || (stopped_ && seconds_since(*stopped_) >= pause_of_a_run);
}

std::optional<Report> LiveReport::write_page() {
    const double start = processor_seconds();
    bool last = has_ended();
    if (last) {
        last = account_.finish();
    } else {
        account_.go_on();
        account_.follow(read_file(config_.directory / "ledger.json"));
    }
    const auto live = last ? std::nullopt : std::optional(LivePage{every_});
    Report report = make_page(config_, account_.last(), live);
    write_(report.page);
    cost_ = processor_seconds() - start;
    if (!last) return std::nullopt;
    return report;
}

std::optional<Report> LiveReport::update() try {
    std::optional<Report> last = write_page();
    failing_.reset();
    return last;
} catch (const DataError&) {
    if (!failing_) failing_ = Clock::now();
    if (seconds_since(*failing_) >= patience) throw;
    return std::nullopt;
}

void LiveReport::stop() try {
    write_(make_page(config_, account_.last(), LivePage{}).page);
} catch (const Error&) {
    // The page stays as it was.
}

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// A member of an object; null if there is none.
Json member(const Json& json, const char* name) {
    return json.is_object() && json.contains(name) ? json[name] : Json();
}

/// Whether summary and ledger are of the same start. The summary of an interrupted start stays
/// until it is replaced.
bool belongs(const Json& summary, const Json& ledger) {
    const bool interrupted = member(ledger, "status") == "interrupted";
    return member(summary, "interrupted") == interrupted &&
           (!interrupted ||
            member(summary, "rounds") == member(member(ledger, "rounds"), "completed"));
}

}  // namespace

RunState run_state(const fs::path& directory) {
    std::error_code unknown;
    // The ledger is sealed before messages leave; config.ini is written when the run has begun.
    if (!fs::exists(directory / "config.ini", unknown) ||
        !fs::exists(directory / "ledger.json", unknown))
        return RunState::not_begun;
    if (fs::exists(directory / "audit.json", unknown)) return RunState::completed;
    if (fs::exists(directory / "failure.txt", unknown)) return RunState::stopped;
    const Json ledger = json_of_run(directory / "ledger.json").content;
    const Json status = member(ledger, "status");
    if (status != "completed" && status != "interrupted") return RunState::going_on;
    // The ledger is sealed before models and the summary are written.
    if (!belongs(json_of_run(directory / "summary.json").content, ledger))
        return RunState::going_on;
    return status == "completed" ? RunState::completed : RunState::stopped;
}

}  // namespace sotto

namespace sotto::cli {

namespace {

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
