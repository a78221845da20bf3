#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "commands/sweep/sweep.hpp"
#include "run/planning.hpp"
#include "run/training.hpp"
#include "run/training_summary.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/core/names.hpp"
#include "sotto/net/memory_network.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr double seconds_between_reports = 1;

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string to_json(const SweepOutcome& outcome, const SweepTraining& training) {
    Json json;
    json["status"] = sweep_statuses.name_of(outcome.status);
    json["options"] = training.ini;
    json["seconds"] = outcome.seconds;
    if (!outcome.error.empty()) {
        json["error"] = outcome.error;
        json["exit_code"] = outcome.exit_code;
    }
    for (const auto& [name, value] : outcome.metrics)
        json["metrics"][name] = std::isfinite(value) ? Json(value) : Json();
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

SweepOutcome outcome_from_json(const fs::path& file) {
    try {
        const Json json = Json::parse(read_file(file));
        SweepOutcome outcome;
        outcome.status = sweep_statuses.parse("status", json.at("status").get<std::string>());
        outcome.seconds = json.at("seconds").get<double>();
        outcome.error = json.value("error", "");
        outcome.exit_code = json.value("exit_code", 0);
        if (json.contains("metrics"))
            for (const auto& [name, value] : json.at("metrics").items())
                outcome.metrics[name] = value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                                        : value.get<double>();
        return outcome;
    } catch (const Json::exception& damage) {
        throw DataError(
            fmt::format("{}: not the outcome of a training ({}); remove it, and it is "
                        "trained again",
                        file.string(),
                        damage.what()));
    }
}

/// Where a sweep keeps what it knows; the same folder for every process.
class SweepFolder {
  public:
    SweepFolder(fs::path path, std::string start) : path_(std::move(path)), start_(start) {}

    [[nodiscard]] fs::path run_of(const SweepTraining& training) const {
        return path_ / "runs" / training.key;
    }
    [[nodiscard]] fs::path claims() const { return path_ / "claims" / start_; }
    [[nodiscard]] bool known(const SweepTraining& training) const {
        return fs::exists(outcome_file(training));
    }
    [[nodiscard]] std::optional<SweepOutcome> outcome(const SweepTraining& training) const {
        if (!known(training)) return std::nullopt;
        return outcome_from_json(outcome_file(training));
    }
    void keep(const SweepTraining& training, const SweepOutcome& outcome) const {
        write_file_atomically(outcome_file(training), to_json(outcome, training));
    }
    void forget(const SweepTraining& training) const { fs::remove(outcome_file(training)); }
    [[nodiscard]] bool claim(const SweepTraining& training) const {
        return create_file(claims() / training.key, "");
    }

  private:
    [[nodiscard]] fs::path outcome_file(const SweepTraining& training) const {
        return path_ / "trainings" / (training.key + ".json");
    }
    fs::path path_;
    std::string start_;
};

/// Passes rounds on as a pulse: reports between trainings would be rare.
class Pulse : public TrainingListener {
  public:
    explicit Pulse(std::function<void()> beat) : beat_(std::move(beat)) {}
    void on_round(long, long) override { beat_(); }

  private:
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
        look_at_files();
        network_.agree([&] { prepare(); });
        open_folder();
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

    /// Process 0 for all: on another host a file may be another.
    void look_at_files() {
        std::string lines;
        network_.agree([&] {
            if (!leader()) return;
            for (const auto& [name, digest] : file_digests(config_))
                lines += fmt::format("{} {}\n", digest, name);
        });
        std::istringstream found(network_.broadcast(lines));
        for (std::string digest, name; found >> digest && std::getline(found.ignore(), name);)
            config_.files[name] = digest;
    }

    /// Cells, and a look at every configuration: whatever is wrong is wrong now.
    void prepare() {
        result_.cells = sweep_cells(config_);
        result_.results.resize(result_.cells.size());
        for (const std::string& seed : config_.validation_seeds)
            if (std::ranges::find(config_.seeds, seed) != config_.seeds.end())
                throw ConfigError(
                    fmt::format("validation-seeds: {} is among the seeds too; what is chosen must "
                                "not be measured on what chose it",
                                seed));
        validation_ = validation_trainings(config_, result_.cells);
        for (const SweepTraining& training : validation_) (void)read_(training.ini);
        for (std::size_t c = 0; c < result_.cells.size(); ++c)
            for (const SweepTraining& training : test_trainings(config_, result_.cells, c, 0))
                (void)read_(training.ini);
    }

    void open_folder() {
        std::string start;
        network_.agree([&] {
            if (!leader()) return;
            std::error_code failure;
            for (const char* name : {"trainings", "runs", "claims"}) {
                fs::create_directories(config_.directory / name, failure);
                if (failure)
                    throw ConfigError(fmt::format("output: {} cannot be used ({})",
                                                  config_.directory.string(),
                                                  failure.message()));
            }
            lock_ = FileLock::take(config_.directory / "lock");
            if (!lock_)
                throw ConfigError(
                    fmt::format("output: {} is used by a sweep that is still going on",
                                config_.directory.string()));
            std::array<std::uint8_t, 8> random{};
            randombytes_buf(random.data(), random.size());
            start = to_hex(random);
            fs::remove_all(config_.directory / "claims");
            fs::create_directories(config_.directory / "claims" / start);
        });
        folder_.emplace(config_.directory, network_.broadcast(start));
        network_.agree([&] {
            if (!fs::is_directory(folder_->claims()))
                throw ConfigError(fmt::format(
                    "output: process {} does not see {} of process 0; name a folder that all hosts "
                    "share",
                    network_.process(),
                    config_.directory.string()));
        });
    }

    /// Failures may have passed since; what diverged does so again.
    void forget_failures(const std::vector<SweepTraining>& trainings) {
        for (const SweepTraining& training : trainings)
            if (const auto outcome = folder_->outcome(training);
                outcome && outcome->status == SweepOutcome::Status::failed)
                folder_->forget(training);
    }

    [[nodiscard]] long missing(const std::vector<SweepTraining>& trainings) const {
        return std::ranges::count_if(
            trainings, [&](const SweepTraining& training) { return !folder_->known(training); });
    }

    void plan_validation() {
        const long tests = static_cast<long>(result_.cells.size() * config_.seeds.size());
        result_.trainings = static_cast<long>(validation_.size()) + tests;
        network_.agree([&] {
            if (!leader()) return;
            forget_failures(validation_);
            after_ = tests;
            const long known = static_cast<long>(validation_.size()) - missing(validation_);
            result_.reused = known;
            observer_.on_start(result_.cells.size(), result_.trainings, known);
        });
    }

    void run_all(const std::vector<SweepTraining>& trainings) {
        current_ = &trainings;
        if (leader()) missing_at_start_ = missing(trainings);
        // Nobody takes what another is still counting.
        (void)network_.maximum(0);
        bool stop = false;
        network_.agree([&] {
            for (const SweepTraining& training : trainings) {
                stop = stop_requested_();
                if (stop) return;
                if (folder_->known(training) || !folder_->claim(training)) continue;
                run_one(training);
                report(true);
            }
        });
        stopped_ = network_.maximum(stop || stop_requested_() ? 1 : 0) > 0;
        if (leader()) finished_before_ += missing_at_start_ - missing(trainings);
        report(true);
    }

    void run_one(const SweepTraining& training) {
        const auto start = Clock::now();
        SweepOutcome outcome;
        const fs::path directory = folder_->run_of(training);
        fs::remove_all(directory);
        const auto fail = [&](const std::exception& failure, SweepOutcome::Status status) {
            const auto* known = dynamic_cast<const Error*>(&failure);
            outcome.status = status;
            outcome.error = failure.what();
            outcome.exit_code =
                static_cast<int>(known != nullptr ? known->exit_code() : ExitCode::other);
        };
        try {
            TrainConfig config = read_(training.ini);
            config.run_directory = directory.string();
            config.threads = config_.threads;
            const auto network =
                make_memory_network(std::max(1, agents_of(config.graph)), config_.threads);
            Pulse pulse([&] { report(false); });
            const TrainResult trained = run_training(config, *network, pulse, stop_requested_);
            if (trained.interrupted) {
                fs::remove_all(directory);
                return;
            }
            const Json summary = Json::parse(summary_json(trained, config.plan));
            for (const std::string& name : sweep_metrics())
                outcome.metrics[name] = summary.at(name).is_null()
                                            ? std::numeric_limits<double>::quiet_NaN()
                                            : summary.at(name).get<double>();
        } catch (const DivergedError& failure) {
            fail(failure, SweepOutcome::Status::diverged);
        } catch (const std::exception& failure) {
            fail(failure, SweepOutcome::Status::failed);
        }
        outcome.seconds = since(start);
        if (!config_.keep_runs) fs::remove_all(directory);
        folder_->keep(training, outcome);
    }

    /// Smaller is better; infinite where a training did not end well.
    [[nodiscard]] double score(const std::vector<SweepRow>& rows, std::size_t candidate) const {
        double sum = 0;
        long count = 0;
        for (const SweepRow& row : rows) {
            if (row.training.candidate != candidate) continue;
            if (!row.outcome || row.outcome->status != SweepOutcome::Status::done)
                return std::numeric_limits<double>::infinity();
            sum += row.outcome->metrics.at(config_.choose_by);
            ++count;
        }
        if (std::isnan(sum))
            throw ConfigError(
                fmt::format("choose-by: the trainings have no {} (docs/tasks.md says which figures "
                            "a task has)",
                            config_.choose_by));
        const bool largest_is_best = config_.choose_by.starts_with("test_accuracy");
        return (largest_is_best ? -sum : sum) / static_cast<double>(count);
    }

    /// Process 0 reads what was found, and decides for all.
    void choose() {
        std::string choices;
        network_.agree([&] {
            if (!leader()) return;
            for (const SweepTraining& training : validation_)
                result_.results[training.cell].validation.push_back(
                    {training, folder_->outcome(training)});
            for (std::size_t c = 0; c < result_.cells.size(); ++c) {
                const std::size_t count = result_.cells[c].candidates.size();
                std::size_t best = 0;
                std::vector<double> scores{0};
                for (std::size_t k = 0; k < count && count > 1; ++k) {
                    scores.resize(count);
                    scores[k] = score(result_.results[c].validation, k);
                    if (scores[k] < scores[best]) best = k;
                }
                choices += fmt::format("{} ", best);
            }
        });
        std::istringstream chosen(network_.broadcast(choices));
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
            forget_failures(tests_);
            after_ = 0;
            result_.reused += static_cast<long>(tests_.size()) - missing(tests_);
        });
    }

    void finish() {
        result_.interrupted = stopped_;
        if (stopped_ && tests_.empty())
            for (const SweepTraining& training : validation_)
                result_.results[training.cell].validation.push_back(
                    {training, folder_->outcome(training)});
        for (const SweepTraining& training : tests_)
            result_.results[training.cell].test.push_back({training, folder_->outcome(training)});
        for (const CellResult& cell : result_.results)
            for (const auto* rows : {&cell.validation, &cell.test})
                for (const SweepRow& row : *rows) count(row);
        result_.seconds = since(start_);
        write_file_atomically(config_.directory / "runs.csv", trainings_csv(config_, result_));
        write_file_atomically(config_.directory / "results.csv", cells_csv(config_, result_));
        if (config_.plot) result_.picture = draw_sweep(config_, result_);
        std::error_code ignored;
        fs::remove_all(config_.directory / "claims", ignored);
    }

    void count(const SweepRow& row) {
        if (!row.outcome) return;
        switch (row.outcome->status) {
            case SweepOutcome::Status::done:
                ++result_.done;
                break;
            case SweepOutcome::Status::diverged:
                ++result_.diverged;
                break;
            case SweepOutcome::Status::failed:
                ++result_.failed;
                if (!result_.first_failure) result_.first_failure = row.outcome;
                break;
        }
    }

    void report(bool now) {
        if (!leader() || (!now && since(reported_) < seconds_between_reports)) return;
        reported_ = Clock::now();
        const long left = missing(*current_);
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
    std::optional<FileLock> lock_;
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
