#include "commands/watch/watch_job.hpp"

#include <time.h>

#include <algorithm>
#include <utility>

#include "commands/watch/run_state.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

namespace sotto {

namespace {

/// How long a run that was interrupted or failed may be taken up again without a last page: where
/// agents leave or join it is interrupted for a moment. [s]
constexpr double pause_of_a_run = 5;

/// How long files may be such that no page can be made of them; each is replaced in one step. [s]
constexpr double patience = 30;

/// Time between pages for the time of a processor that one takes: no more than a twentieth of it.
constexpr double rest_per_page = 20;

/// Seconds that this thread has had a processor: on a busy machine fewer than have gone by.
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
    // Whoever stops waits for nothing; the page stays as it was.
}

}  // namespace sotto
