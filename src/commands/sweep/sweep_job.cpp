#include "commands/sweep/sweep_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "commands/sweep/sweep_choice.hpp"
#include "commands/sweep/sweep_folder.hpp"
#include "commands/sweep/sweep_inputs.hpp"
#include "commands/sweep/sweep_picture.hpp"
#include "commands/sweep/sweep_tables.hpp"
#include "commands/sweep/sweep_training.hpp"
#include "core/json_output.hpp"
#include "run/build_topography.hpp"
#include "run/composed_runs.hpp"
#include "run/training_summary.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/stopwatch.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

constexpr double seconds_between_reports = 1;

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
        plan_validation();
        run_all(validation_);
        if (!stopped_) choose();
        if (!stopped_) run_all(tests_);
        network_.agree([&] {
            if (leader()) finish();
        });
        // Every process ends alike.
        result_.interrupted = stopped_;
        return std::move(result_);
    }

  private:
    [[nodiscard]] bool leader() const { return network_.process() == 0; }

    /// Cells, and a look at every configuration: whatever is wrong is wrong now.
    void prepare() {
        result_.cells = sweep_cells(config_);
        result_.results.resize(result_.cells.size());
        require_other_seeds(config_);
        validation_ = validation_trainings(config_, result_.cells);
        for (const SweepTraining& training : validation_) (void)read_(training.ini);
        for (std::size_t c = 0; c < result_.cells.size(); ++c)
            for (const SweepTraining& training : test_trainings(config_, result_.cells, c, 0))
                (void)read_(training.ini);
    }

    void plan_validation() {
        const long tests = static_cast<long>(result_.cells.size() * config_.seeds.size());
        const long validations = std::ssize(validation_);
        result_.trainings = validations + tests;
        network_.agree([&] {
            if (!leader()) return;
            folder_->forget_failures(validation_);
            after_ = tests;
            result_.reused = validations - folder_->missing(validation_);
            observer_.on_start(result_.cells.size(), result_.trainings, result_.reused);
        });
    }

    void run_all(const std::vector<SweepTraining>& trainings) {
        current_ = &trainings;
        if (leader()) missing_at_start_ = folder_->missing(trainings);
        // Nobody takes what another is still counting.
        (void)network_.maximum(0);
        bool stop = false;
        network_.agree([&] {
            for (const SweepTraining& training : trainings) {
                stop = stop_requested_();
                if (stop) return;
                if (!folder_->claim(training)) continue;
                run_one(training);
                report(true);
            }
        });
        stopped_ = network_.maximum(stop || stop_requested_() ? 1 : 0) > 0;
        report(true);
        if (leader()) finished_before_ += missing_at_start_ - folder_->missing(trainings);
    }

    void run_one(const SweepTraining& training) {
        const fs::path directory = folder_->run_of(training);
        const auto outcome = train_once([&] { return read_(training.ini); },
                                        directory,
                                        [&] { folder_->discard_run(training); },
                                        config_.threads,
                                        [&] { report(false); },
                                        stop_requested_);
        if (!outcome) return;
        if (!config_.keep_runs) folder_->discard_run(training);
        folder_->keep(training, *outcome);
    }

    /// Process 0 reads what was found, and decides for all.
    void choose() {
        constexpr std::uint64_t longest_number = 24;
        std::string choices;
        network_.agree([&] {
            if (!leader()) return;
            add_validation_rows();
            for (std::size_t c = 0; c < result_.cells.size(); ++c)
                choices += fmt::format("{} ",
                                       best_candidate(result_.results[c].validation,
                                                      result_.cells[c].candidates.size(),
                                                      config_.choose_by));
        });
        std::istringstream chosen(network_.broadcast(
            choices, longest_number * std::max<std::uint64_t>(1, result_.cells.size())));
        for (std::size_t c = 0; c < result_.cells.size(); ++c) {
            std::size_t best = 0;
            chosen >> best;
            result_.results[c].candidate = best;
            const std::size_t count = result_.cells[c].candidates.size();
            result_.results[c].at_edge = count > 1 && (best == 0 || best + 1 == count);
            for (const SweepTraining& training : test_trainings(config_, result_.cells, c, best))
                tests_.push_back(training);
        }
        network_.agree([&] {
            if (!leader()) return;
            folder_->forget_failures(tests_);
            after_ = 0;
            result_.reused += std::ssize(tests_) - folder_->missing(tests_);
        });
    }

    void add_validation_rows() {
        for (const SweepTraining& training : validation_)
            result_.results[training.cell].validation.push_back(
                {training, folder_->outcome(training)});
    }

    void finish() {
        result_.interrupted = stopped_;
        if (stopped_ && tests_.empty()) add_validation_rows();
        for (const SweepTraining& training : tests_)
            result_.results[training.cell].test.push_back({training, folder_->outcome(training)});
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
        const long left = folder_->missing(*current_);
        observer_.on_progress(finished_before_ + missing_at_start_ - left, left + after_);
    }

    SweepConfig config_;
    const ReadTrainConfig& read_;
    Network& network_;
    SweepListener& observer_;
    const std::function<bool()>& stop_requested_;
    const Clock::time_point start_ = Clock::now();
    Clock::time_point reported_ = start_;
    SweepResult result_;
    std::vector<SweepTraining> validation_, tests_;
    const std::vector<SweepTraining>* current_ = nullptr;
    long missing_at_start_ = 0;  ///< of the current trainings
    long finished_before_ = 0;   ///< of earlier ones, in this start
    long after_ = 0;             ///< trainings that come after the current ones
    bool stopped_ = false;
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
