#include "commands/sweep/sweep_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <utility>

#include "account/composed_runs.hpp"
#include "commands/sweep/private_sweep.hpp"
#include "commands/sweep/sweep_file.hpp"
#include "commands/sweep/sweep_folder.hpp"
#include "commands/sweep/sweep_grid.hpp"
#include "commands/sweep/sweep_report.hpp"
#include "commands/sweep/sweep_result.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "core/numbers.hpp"
#include "core/output.hpp"
#include "core/stopwatch.hpp"
#include "net/memory_network.hpp"
#include "planning/planning.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "training/stop_signal.hpp"
#include "training/train_report.hpp"
#include "training/training.hpp"

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

/// Process 0's file_digests, for all: hosts may have different files. COLLECTIVE.
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

/// Requires that validation and measurement use different seeds.
void require_other_seeds(const SweepConfig& config) {
    for (const std::string& seed : config.validation_seeds)
        if (std::ranges::find(config.seeds, seed) != config.seeds.end())
            throw ConfigError(
                fmt::format("validation-seeds: {} is among the --seed values too (allowed: other "
                            "seeds, since a value must not be measured on the seeds that chose it)",
                            seed));
}

/// Reports progress after every round: reports between trainings would be rare.
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
        if (config_.private_choice) draw();
        network_.agree([&] {
            if (leader()) count_finished_trainings();
        });
        network_.agree([&] { train_or_stop_all(); });
        // All processes must agree on this.
        result_.interrupted = network_.maximum(stop_requested_() ? 1 : 0) > 0;
        network_.agree([&] {
            if (leader()) finish();
        });
        return std::move(result_);
    }

  private:
    [[nodiscard]] bool leader() const { return network_.process() == 0; }

    /// Makes the cells, and checks every configuration before the first training.
    void prepare() {
        if (config_.private_choice) {
            cells_ = sweep_cells(config_);
            if (config_.choice_data == ChoiceData::held_out)
                config_.choose_by = noisy_accuracy_name;
            plan_ = plan_choice(config_, cells_, read_);
            if (leader()) observer_.on_choice(config_, *plan_);
            return;
        }
        board_.emplace(config_);
        require_other_seeds(config_);
        for (const SweepTraining& training : board_->open()) (void)read_(training.ini);
        for (std::size_t c = 0; c < board_->cells().size(); ++c)
            for (const SweepTraining& training : test_trainings(config_, board_->cells(), c, 0))
                (void)read_(training.ini);
    }

    /// Process 0 draws the trainings of a private choice, for all. COLLECTIVE.
    void draw() {
        std::string words;
        network_.agree([&] {
            if (!leader()) return;
            for (const char* folder : {"trainings", "runs", "claims"})
                fs::permissions(config_.directory / folder, fs::perms::owner_all);
            for (const std::size_t drawn : draw_choice(config_, cells_, *folder_))
                words += fmt::format("{} ", drawn);
        });
        std::istringstream numbers(network_.broadcast(words, most_document_bytes));
        std::vector<std::size_t> drawn;
        for (std::size_t number = 0; numbers >> number;) drawn.push_back(number);
        board_.emplace(config_, drawn_cell(cells_, drawn));
    }

    /// Counts what earlier starts have done, and forgets their failures before another process
    /// looks: all must see the same outcomes.
    void count_finished_trainings() {
        board_->update([&](const SweepTraining& training) {
            folder_->forget_failure(training);
            return outcome_of(training);
        });
        observer_.on_start(
            board_->cells().size(), board_->trainings(), result_.reused, board_->may_grow());
    }

    /// How a training ended; called once about each that has ended.
    std::optional<SweepOutcome> outcome_of(const SweepTraining& training) {
        auto outcome = folder_->outcome(training);
        if (outcome && !folder_->claimed(training)) ++result_.reused;
        return outcome;
    }

    /// A process that leaves early stops all: they would wait for the training it has claimed.
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
        if (mine == open.end()) {  // the outcomes of others may require more
            std::this_thread::sleep_for(between_looks_for_work);
        } else {
            run_one(*mine);
            report(true);
        }
        return true;
    }

    void run_one(const SweepTraining& training) {
        const fs::path directory = folder_->run_of(training);
        // Files need not be flushed to disk until the outcome is written.
        const ScratchFolder scratch(directory);
        Pulse pulse(observer_, [&] { report(false); });
        observer_.on_stops_answered(false);
        auto outcome = train_once([&] { return read_(training.ini); },
                                  directory,
                                  [&] { folder_->discard_run(training); },
                                  config_.threads,
                                  pulse,
                                  stop_requested_);
        observer_.on_stops_answered(true);
        if (!outcome) return;
        if (plan_ && plan_->score_deviation > 0) hide_held_out(*outcome, plan_->score_deviation);
        if (config_.keep_runs || plan_)
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
        if (plan_) {
            if (!result_.interrupted && !result_.first_failure)
                result_.chosen = release_choice(
                    config_, *plan_, result_.cells.front(), result_.results.front(), *folder_);
            folder_->remove_claims();
            return;
        }
        write_file_atomically(config_.directory / "runs.csv", trainings_csv(config_, result_));
        write_file_atomically(config_.directory / "results.csv", cells_csv(config_, result_));
        if (config_.plot) result_.picture = draw_sweep(config_, result_);
        folder_->remove_claims();
        add_up();
    }

    /// Composes the privacy loss of all trainings, those of earlier starts included.
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
    std::vector<SweepCell> cells_;  // of a private choice, as is the plan
    std::optional<ChoicePlan> plan_;
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

namespace sotto {
namespace {

/// Reads the outcomes that are missing. @return whether all have ended.
bool take_in(std::vector<SweepRow>& rows, const SweepBoard::OutcomeOf& outcome_of) {
    bool all = true;
    for (SweepRow& row : rows) {
        if (!row.outcome) row.outcome = outcome_of(row.training);
        all = all && row.outcome;
    }
    return all;
}

void add_rows(std::vector<SweepRow>& rows, std::vector<SweepTraining> trainings) {
    for (SweepTraining& training : trainings) rows.push_back({std::move(training), std::nullopt});
}

}  // namespace

SweepBoard::SweepBoard(SweepConfig config)
    : config_(std::move(config)), cells_(sweep_cells(config_)), results_(cells_.size()) {
    for (std::size_t c = 0; c < cells_.size(); ++c)
        for (std::size_t k = 0; k < cells_[c].candidates.size(); ++k)
            if (cells_[c].candidates.size() > 1) add_candidate(c, k, false);
}

SweepBoard::SweepBoard(SweepConfig config, SweepCell drawn)
    : config_(std::move(config)), cells_{std::move(drawn)}, results_(1) {
    add_rows(results_.front().validation, drawn_trainings(config_, cells_));
    config_.seeds.clear();
}

void SweepBoard::update(const OutcomeOf& outcome_of) {
    for (std::size_t c = 0; c < cells_.size(); ++c) {
        while (!results_[c].candidate && take_in(results_[c].validation, outcome_of)) go_on(c);
        (void)take_in(results_[c].test, outcome_of);
    }
}

void SweepBoard::go_on(std::size_t cell) {
    SweepCell& place = cells_[cell];
    CellResult& result = results_[cell];
    const std::size_t best =
        best_candidate(result.validation, place.candidates.size(), config_.choose_by);
    std::vector<OptionValues> untried;
    result.at_edge = false;
    for (const auto& neighbour : neighbours_of(place, best)) {
        const auto known = neighbour ? candidate_with(place, *neighbour) : std::nullopt;
        if (!known || !is_judged(result.validation, *known)) result.at_edge = true;
        if (neighbour && !known) untried.push_back(*neighbour);
    }
    if (untried.empty() || !has_ended_well(result.validation, best)) return choose(cell, best);
    for (const OptionValues& values : untried) {
        place.candidates.push_back(values);
        add_candidate(cell, place.candidates.size() - 1, true);
    }
}

void SweepBoard::add_candidate(std::size_t cell, std::size_t candidate, bool further) {
    std::vector<SweepTraining> trainings = validation_trainings(config_, cells_, cell, candidate);
    for (SweepTraining& training : trainings) training.further = further;
    add_rows(results_[cell].validation, std::move(trainings));
}

void SweepBoard::choose(std::size_t cell, std::size_t candidate) {
    results_[cell].candidate = candidate;
    add_rows(results_[cell].test, test_trainings(config_, cells_, cell, candidate));
}

std::vector<SweepTraining> SweepBoard::open() const {
    std::vector<SweepTraining> trainings;
    for (const auto rows : {&CellResult::validation, &CellResult::test})
        for (const CellResult& result : results_)
            for (const SweepRow& row : result.*rows)
                if (!row.outcome) trainings.push_back(row.training);
    return trainings;
}

long SweepBoard::later() const {
    return std::ssize(config_.seeds) *
           std::ranges::count_if(results_,
                                 [](const CellResult& result) { return !result.candidate; });
}

long SweepBoard::trainings() const {
    long count = later();
    for (const CellResult& result : results_)
        count += std::ssize(result.validation) + std::ssize(result.test);
    return count;
}

bool SweepBoard::may_grow() const {
    for (std::size_t c = 0; c < cells_.size(); ++c)
        if (!results_[c].candidate && has_untried_values(cells_[c])) return true;
    return false;
}
}  // namespace sotto

namespace sotto {
namespace {

std::map<std::string, double> metrics_of(const TrainResult& trained, const TrainConfig& config) {
    const auto summary = nlohmann::json::parse(summary_json(trained, config.plan));
    std::map<std::string, double> metrics;
    for (const std::string& name : sweep_metrics())
        metrics[name] = summary.at(name).is_null() ? not_a_number : summary.at(name).get<double>();
    // Of a part of the test records no count is known.
    metrics[test_records_name] =
        trained.evaluation.records.test ? not_a_number : trained.baselines.test_records;
    return metrics;
}

SweepOutcome failure_of(const std::exception& failure, SweepOutcome::Status status) {
    const auto* known = dynamic_cast<const Error*>(&failure);
    SweepOutcome outcome;
    outcome.status = status;
    outcome.error = failure.what();
    outcome.exit_code = static_cast<int>(known != nullptr ? known->exit_code() : ExitCode::other);
    return outcome;
}

}  // namespace

std::optional<SweepOutcome> train_once(const std::function<TrainConfig()>& read,
                                       const std::filesystem::path& run_directory,
                                       const std::function<void()>& discard,
                                       int threads,
                                       TrainingListener& listener,
                                       const std::function<bool()>& stop_requested) {
    const auto start = Clock::now();
    SweepOutcome outcome;
    discard();
    try {
        TrainConfig config = read();
        config.run_directory = run_directory.string();
        config.threads = threads;
        const auto network = make_memory_network(std::max(1, agents_of(config.graph)), threads);
        const TrainResult trained = run_training(config, *network, listener, stop_requested);
        if (trained.interrupted) {
            discard();
            return std::nullopt;
        }
        outcome.metrics = metrics_of(trained, config);
    } catch (const DivergedError& failure) {
        outcome = failure_of(failure, SweepOutcome::Status::diverged);
    } catch (const std::exception& failure) {
        outcome = failure_of(failure, SweepOutcome::Status::failed);
    }
    outcome.seconds = seconds_since(start);
    return outcome;
}
}  // namespace sotto

namespace sotto::cli {
namespace {

/// Further values may add more trainings.
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

void SweepProgress::on_choice(const SweepConfig& config, const ChoicePlan& plan) {
    if (report_ != nullptr) say(report_, "{}", choice_plan_text(config, plan));
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
