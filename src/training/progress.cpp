#include "training/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <vector>

#include "core/output.hpp"
#include "store/run_directory.hpp"
#include "tasks/task_table.hpp"
#include "training/stop_signal.hpp"

namespace sotto {

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
    // Reading the clock is cheap; drawing is rare.
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

std::string command_to_go_on(const TrainConfig& config,
                             int processes,
                             const std::string& run_directory) {
    if (config.task.task == python_task_name)
        return fmt::format("the same program with resume=\"{}\" in place of options of the plan",
                           run_directory);
    std::vector<std::string> words{"sotto", "train", "--resume", run_directory};
    if (processes > 1) words.insert(words.begin(), {"mpirun", "-n", std::to_string(processes)});
    return shell_line(words);
}

namespace {

/// All texts on the planned run.
std::string full_text(const TrainingStart& start) {
    std::string text = fmt::format("graph      {}, {} agents, {} edges\n",
                                   start.built.description,
                                   start.built.topography.graph.agents(),
                                   start.built.topography.graph.links().size());
    for (const auto& note : start.built.notes) text += fmt::format("note       {}\n", note);
    text += fmt::format("task       {}\n{}", start.task, start.report);
    if (start.estimate != nullptr)
        text += fmt::format(
            "memory     {:.1f} MiB of vectors per process, in addition to the program and its "
            "data{}\n",
            start.estimate->memory_mib,
            start.estimate->past_noise_again ? "; past noise is drawn again every round" : "");
    return text;
}

}  // namespace

void Progress::on_start(const TrainingStart& start) {
    bar_.restart();
    run_directory_ = start.run_directory;
    const std::string everything = full_text(start);
    if (!run_directory_.empty()) append_to_log(run_directory_, everything);
    const bool all = start.config.verbose || start.estimate != nullptr;
    if (report_ != nullptr)
        say(report_,
            "{}",
            all ? everything : fmt::format("task       {}\n{}", start.task, start.outline));
    for (const std::string& warning : start.warnings) tell(fmt::format("warning    {}\n", warning));
    if (!run_directory_.empty() && start.config.checkpoint_every > 0)
        tell(fmt::format("           if it fails, resume it with: {}\n",
                         command_to_go_on(start.config, start.processes, run_directory_)));
    if (report_ != nullptr) std::fflush(report_);
}

void Progress::tell(const std::string& text) {
    if (report_ != nullptr) say(report_, "{}", text);
    if (!run_directory_.empty()) append_to_log(run_directory_, text);
}

void Progress::on_rounds() { watch_for_stop(); }

void Progress::on_preparing(std::string_view step) {
    constexpr double long_seconds = 2;
    if (report_ != nullptr && bar_.elapsed_seconds() >= long_seconds)
        say(stderr, "{:<10} {}\n", duration_text(bar_.elapsed_seconds()), step);
}

void Progress::on_analysis() { end_when_stopped(); }

void Progress::on_round(long completed, long rounds, const Ledger& ledger) {
    if (!before_) before_ = completed - 1;
    if (report_ == nullptr || !bar_.due()) return;
    epsilon_.update([&] { return ledger.epsilon_after(completed); },
                    [&] { return bar_.elapsed_seconds(); });
    show(completed, rounds);
}

void MeteredEpsilon::update(const std::function<double()>& find,
                            const std::function<double()>& seconds) {
    constexpr double times_its_cost = 50;
    const double start = seconds();
    if (start < next_) return;
    value_ = find();
    next_ = start + times_its_cost * (seconds() - start);
}

void Progress::show(long completed, long rounds) {
    const double rate = static_cast<double>(completed - before_.value_or(0)) /
                        std::max(bar_.elapsed_seconds(), 1e-9);
    const double left = static_cast<double>(rounds - completed) / std::max(rate, 1e-9);
    bar_.show(static_cast<double>(completed) / static_cast<double>(rounds),
              fmt::format("{}/{}  {:.3g} rounds/s  {} left  loss {}  epsilon {:.4g}",
                          completed,
                          rounds,
                          rate,
                          duration_text(left),
                          loss_text(loss_),
                          epsilon_.value()));
}

void Progress::on_evaluation(long completed, double epsilon, const Evaluation& evaluation) {
    constexpr double between_lines = 10;  // in the log, which stays short
    loss_ = evaluation.test_loss;
    epsilon_.set(epsilon);
    if (run_directory_.empty() || bar_.elapsed_seconds() < next_line_) return;
    next_line_ = bar_.elapsed_seconds() + between_lines;
    append_to_log(
        run_directory_,
        fmt::format(
            "after {} rounds: test loss {}, epsilon {:.4g}", completed, loss_text(loss_), epsilon));
}

void Progress::finish() { bar_.finish(); }

}  // namespace sotto
