#include "commands/sweep/sweep_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include "account/composed_runs.hpp"
#include "commands/sweep/sweep_board.hpp"
#include "commands/sweep/sweep_folder.hpp"
#include "commands/sweep/sweep_inputs.hpp"
#include "commands/sweep/sweep_picture.hpp"
#include "commands/sweep/sweep_tables.hpp"
#include "commands/sweep/sweep_training.hpp"
#include "core/json_output.hpp"
#include "core/scratch_folder.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/stopwatch.hpp"
#include "training/training_summary.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

constexpr double seconds_between_reports = 1;
constexpr std::chrono::milliseconds between_looks_for_work{50};

/// Every word of every value may name a file.
std::uint64_t largest_digests_bytes(const SweepConfig& config) {
    constexpr std::uint64_t digest_bytes = 2 * sizeof(Digest) + 2;
    std::uint64_t bytes = 0;
    for (const SweepVariant& variant : config.variants)
        for (const SweepSetting& setting : variant.settings)
            for (const std::string& value : setting.values) bytes += digest_bytes * value.size();
    return bytes;
}

/// file_digests of process 0, for all: on another host a file may be another. COLLECTIVE.
std::map<std::string, std::string> shared_digests(const SweepConfig& config, Network& network) {
    std::string lines;
    network.agree([&] {
        if (network.process() != 0) return;
        for (const auto& [name, digest] : file_digests(config))
            lines += fmt::format("{} {}\n", digest, name);
    });
    std::istringstream found(network.broadcast(lines, largest_digests_bytes(config)));
    std::map<std::string, std::string> digests;
    for (std::string digest, name; found >> digest && std::getline(found.ignore(), name);)
        digests[name] = digest;
    return digests;
}

/// What is chosen must not be measured on what chose it.
void require_other_seeds(const SweepConfig& config) {
    for (const std::string& seed : config.validation_seeds)
        if (std::ranges::find(config.seeds, seed) != config.seeds.end())
            throw ConfigError(
                fmt::format("validation-seeds: {} is among the seeds too; what is chosen must "
                            "not be measured on what chose it",
                            seed));
}

/// Passes rounds on: reports between trainings would be rare.
class Pulse final : public TrainingListener {
  public:
    Pulse(SweepListener& sweep, std::function<void()> beat)
        : sweep_(sweep), beat_(std::move(beat)) {}
    void on_rounds() override { sweep_.on_stops_answered(true); }
    void on_round(long, long, const Ledger&) override { beat_(); }

  private:
    SweepListener& sweep_;
    std::function<void()> beat_;
};

class SweepRunner {
  public:
    SweepRunner(const SweepConfig& config,
                const ReadTrainConfig& read,
                Network& network,
                SweepListener& observer,
                const std::function<bool()>& stop_requested)
        : config_(config),
          read_(read),
          network_(network),
          observer_(observer),
          stop_requested_(stop_requested) {}

    SweepResult run() {
        config_.files = shared_digests(config_, network_);
        network_.agree([&] { prepare(); });
        folder_.emplace(config_.directory, network_);
        network_.agree([&] {
            if (leader()) take_up();
        });
        network_.agree([&] { train_or_stop_all(); });
        // Every process ends alike.
        result_.interrupted = network_.maximum(stop_requested_() ? 1 : 0) > 0;
        network_.agree([&] {
            if (leader()) finish();
        });
        return std::move(result_);
    }

  private:
    [[nodiscard]] bool leader() const { return network_.process() == 0; }

    /// Cells, and a look at every configuration: whatever is wrong is wrong now.
    void prepare() {
        board_.emplace(config_);
        require_other_seeds(config_);
        for (const SweepTraining& training : board_->open()) (void)read_(training.ini);
        for (std::size_t c = 0; c < board_->cells().size(); ++c)
            for (const SweepTraining& training : test_trainings(config_, board_->cells(), c, 0))
                (void)read_(training.ini);
    }

    /// What earlier starts have done. Before any process looks: all must see the same outcomes.
    void take_up() {
        board_->update([&](const SweepTraining& training) {
            folder_->forget_failure(training);
            return outcome_of(training);
        });
        observer_.on_start(
            board_->cells().size(), board_->trainings(), result_.reused, board_->may_grow());
    }

    /// How a training ended, asked once about each that has.
    std::optional<SweepOutcome> outcome_of(const SweepTraining& training) {
        auto outcome = folder_->outcome(training);
        if (outcome && !folder_->claimed(training)) ++result_.reused;
        return outcome;
    }

    /// A process that leaves early takes all with it: they would wait for what it has claimed.
    void train_or_stop_all() {
        try {
            bool more = true;
            while (more && !stop_requested_() && folder_->going_on()) more = train_next();
            if (more) folder_->stop();
        } catch (const std::exception&) {
            folder_->stop();
            throw;
        }
        report(true);
    }

    /// @return false once nothing is left to do, for any process.
    bool train_next() {
        board_->update([&](const SweepTraining& training) { return outcome_of(training); });
        const std::vector<SweepTraining> open = board_->open();
        if (open.empty()) return false;
        const auto mine = std::ranges::find_if(
            open, [&](const SweepTraining& training) { return folder_->claim(training); });
        if (mine == open.end()) {  // what others train may call for more
            std::this_thread::sleep_for(between_looks_for_work);
        } else {
            run_one(*mine);
            report(true);
        }
        return true;
    }

    void run_one(const SweepTraining& training) {
        const fs::path directory = folder_->run_of(training);
        // Until its outcome is kept a training is nothing that a loss of power could lose.
        const ScratchFolder scratch(directory);
        Pulse pulse(observer_, [&] { report(false); });
        observer_.on_stops_answered(false);
        const auto outcome = train_once([&] { return read_(training.ini); },
                                        directory,
                                        [&] { folder_->discard_run(training); },
                                        config_.threads,
                                        pulse,
                                        stop_requested_);
        observer_.on_stops_answered(true);
        if (!outcome) return;
        if (config_.keep_runs)
            scratch.flush();
        else
            folder_->discard_run(training);
        folder_->keep(training, *outcome);
    }

    void finish() {
        board_->update([&](const SweepTraining& training) { return outcome_of(training); });
        result_.trainings = board_->trainings();
        result_.cells = board_->cells();
        result_.results = board_->results();
        count_outcomes(result_);
        result_.seconds = seconds_since(start_);
        write_file_atomically(config_.directory / "runs.csv", trainings_csv(config_, result_));
        write_file_atomically(config_.directory / "results.csv", cells_csv(config_, result_));
        if (config_.plot) result_.picture = draw_sweep(config_, result_);
        folder_->remove_claims();
        add_up();
    }

    /// Trainings of earlier starts count, too.
    void add_up() {
        try {
            const ComposedRuns all =
                compose_runs_in({config_.directory}, std::nullopt, AgentMatch::number);
            result_.privacy = {std::ssize(all.runs), all.anybody, all.anybody_epsilon, all.delta};
        } catch (const Error& problem) {
            result_.privacy_problem = problem.what();
        }
    }

    void report(bool now) {
        if (!leader() || (!now && seconds_since(reported_) < seconds_between_reports)) return;
        reported_ = Clock::now();
        const long left = folder_->missing(board_->open()) + board_->later();
        observer_.on_progress(
            board_->trainings() - left - result_.reused, left, board_->may_grow());
    }

    SweepConfig config_;
    const ReadTrainConfig& read_;
    Network& network_;
    SweepListener& observer_;
    const std::function<bool()>& stop_requested_;
    const Clock::time_point start_ = Clock::now();
    Clock::time_point reported_ = start_;
    SweepResult result_;
    std::optional<SweepBoard> board_;
    std::optional<SweepFolder> folder_;
};

}  // namespace

SweepResult run_sweep(const SweepConfig& config,
                      const ReadTrainConfig& read,
                      Network& network,
                      SweepListener& observer,
                      const std::function<bool()>& stop_requested) {
    return SweepRunner(config, read, network, observer, stop_requested).run();
}

}  // namespace sotto
