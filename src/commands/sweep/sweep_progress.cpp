#include "commands/sweep/sweep_progress.hpp"

#include <fmt/format.h>

#include "core/output.hpp"
#include "training/stop_signal.hpp"

namespace sotto::cli {

namespace {

/// Further values may add to what is known to be trained.
const char* words_for(bool at_least) { return at_least ? "at least " : ""; }

}  // namespace

void SweepProgress::on_start(std::size_t cells, long trainings, long known, bool at_least) {
    if (report_ == nullptr) return;
    say(report_, "sweep      {} cells, {}{} trainings", cells, words_for(at_least), trainings);
    if (known > 0) say(report_, "; {} known from an earlier start", known);
    say(report_, "\n");
    std::fflush(report_);
    bar_.restart();
}

void SweepProgress::on_progress(long finished, long left, bool at_least) {
    if (report_ == nullptr || left == 0 || !bar_.due()) return;
    const double elapsed = bar_.elapsed_seconds();
    const auto done = static_cast<double>(finished), rest = static_cast<double>(left);
    bar_.show(done / (done + rest),
              fmt::format("{} trainings done, {}{} to do, {} left",
                          finished,
                          words_for(at_least),
                          left,
                          finished > 0 ? duration_text(elapsed / done * rest) : "?"));
}

void SweepProgress::on_stops_answered(bool soon) {
    if (soon)
        watch_on();
    else
        end_soon_when_stopped();
}

}  // namespace sotto::cli
