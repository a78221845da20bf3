#include "commands/cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "commands/cli/output.hpp"
#include "commands/cli/stop_signal.hpp"

namespace sotto::cli {

std::string loss_text(double loss) {
    if (std::isnan(loss)) return "unknown";
    return std::abs(loss) < 1e6 ? fmt::format("{:.5f}", loss) : fmt::format("{:.5g}", loss);
}

std::string duration_text(double seconds) {
    if (!(seconds < 1e9)) return "?";
    if (seconds < 100) return fmt::format("{:.1f} s", seconds);
    const long whole = std::lround(seconds);
    if (whole < 6000) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
    return fmt::format("{}:{:02} h", whole / 3600, whole % 3600 / 60);
}

ProgressBar::ProgressBar()
    : terminal_(isatty(fileno(stderr)) == 1), start_(Clock::now()), last_(start_) {}

void ProgressBar::restart() { start_ = last_ = Clock::now(); }

double ProgressBar::elapsed_seconds() const { return seconds_since(start_); }

bool ProgressBar::due() {
    // Looking at the clock costs little; drawing is rare.
    const auto now = Clock::now();
    if (seconds_between(last_, now) < (terminal_ ? 0.1 : 5.0)) return false;
    last_ = now;
    return true;
}

void ProgressBar::show(double share, const std::string& facts) {
    if (terminal_) {
        constexpr int width = 24;
        const int filled = static_cast<int>(share * width);
        say(stderr,
            "\r[{}{}] {:3.0f}%  {} \x1b[K",
            std::string(static_cast<std::size_t>(filled), '#'),
            std::string(static_cast<std::size_t>(width - filled), '.'),
            100 * share,
            facts);
        shown_ = true;
    } else {
        say(stderr, "{:3.0f}%  {}\n", 100 * share, facts);
    }
    std::fflush(stderr);
}

void ProgressBar::finish() {
    if (shown_) say(stderr, "\r\x1b[K");
    shown_ = false;
}

Progress::Progress(std::FILE* report) : report_(report) {}

void Progress::on_start(const PlannedNoise&,
                        const BuiltTopography& built,
                        const std::string& task,
                        const std::string& plan_report,
                        const RunEstimate* estimate) {
    bar_.restart();
    if (report_ == nullptr) return;
    say(report_,
        "graph      {}, {} agents, {} edges\n",
        built.description,
        built.topography.graph.agents(),
        built.topography.graph.links().size());
    for (const auto& note : built.notes) say(report_, "note       {}\n", note);
    say(report_, "task       {}\n{}", task, plan_report);
    if (estimate != nullptr)
        say(report_,
            "memory     {:.1f} MiB of vectors a process, beside the program and its data{}\n",
            estimate->memory_mib,
            estimate->past_noise_again ? "; past noise is drawn again every round" : "");
    std::fflush(report_);
}

void Progress::on_rounds() { watch_for_stop(); }

void Progress::on_analysis() { end_when_stopped(); }

void Progress::on_round(long completed, long rounds) {
    if (!before_) before_ = completed - 1;
    if (report_ != nullptr && bar_.due()) show(completed, rounds);
}

void Progress::show(long completed, long rounds) {
    const double rate = static_cast<double>(completed - before_.value_or(0)) /
                        std::max(bar_.elapsed_seconds(), 1e-9);
    const double left = static_cast<double>(rounds - completed) / std::max(rate, 1e-9);
    bar_.show(static_cast<double>(completed) / static_cast<double>(rounds),
              fmt::format("{}/{}  {:.0f} rounds/s  {} left  loss {}  epsilon {:.4g}",
                          completed,
                          rounds,
                          rate,
                          duration_text(left),
                          loss_text(loss_),
                          epsilon_));
}

void Progress::on_evaluation(long, double epsilon, const Evaluation& evaluation) {
    loss_ = evaluation.test_loss;
    epsilon_ = epsilon;
}

void Progress::finish() { bar_.finish(); }

}  // namespace sotto::cli
