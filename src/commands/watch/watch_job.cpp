#include "commands/watch/watch_job.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "commands/report/report_job.hpp"
#include "core/files.hpp"
#include "sotto/core/error.hpp"

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
