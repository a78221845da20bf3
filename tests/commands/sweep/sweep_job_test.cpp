#include "commands/sweep/sweep_job.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "commands/sweep/sweep_fixtures.hpp"
#include "options/train_options.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

TrainConfig read(const std::string& ini) { return train_config_of({ini, "sweep"}); }

/// Two step sizes, of which one is far too small, and two seeds.
SweepConfig small_sweep(const TemporaryFolder& folder) {
    SweepConfig config;
    config.directory = folder.path("out");
    config.variants = {{"all",
                        {{"agents", {"4"}},
                         {"rounds", {"20"}},
                         {"mechanism", {"none"}},
                         {"clip-norm", {"100"}},
                         {"step-size", {"1e-9", "0.01"}},
                         {"task", {"quadratic"}},
                         {"noise-seed", {"seed"}}}}};
    config.seeds = {"1", "2"};
    config.keep_runs = false;
    config.choose_further = 0;
    return config;
}

class Counting final : public SweepListener {
  public:
    void on_start(std::size_t all_cells,
                  long all_trainings,
                  long all_known,
                  bool may_grow) override {
        cells = all_cells;
        trainings = all_trainings;
        known = all_known;
        at_least = may_grow;
    }
    void on_progress(long now_finished, long now_left, bool may_grow) override {
        finished = now_finished;
        left = now_left;
        still_at_least = may_grow;
    }
    std::size_t cells = 0;
    long trainings = 0, known = -1, finished = -1, left = -1;
    bool at_least = false, still_at_least = true;
};

SweepResult run(
    const SweepConfig& config, Counting& counting, const std::function<bool()>& stop = [] {
        return false;
    }) {
    const auto network = make_memory_network(1, 1);
    return run_sweep(config, read, *network, counting, stop);
}

/// Trainings whose end a sweep knows.
long known_in(const SweepConfig& config) {
    std::error_code missing;
    long count = 0;
    for (const auto& entry : fs::directory_iterator(config.directory / "trainings", missing))
        count += entry.path().extension() == ".json" ? 1 : 0;
    return count;
}

TEST(SweepJob, ChoosesMeasuresAndKnowsItAgain) {
    const TemporaryFolder folder;
    const SweepConfig config = small_sweep(folder);
    Counting counting;
    const SweepResult result = run(config, counting);
    EXPECT_EQ(counting.cells, 1U);
    EXPECT_EQ(counting.trainings, 4);
    EXPECT_EQ(counting.known, 0);
    EXPECT_EQ(counting.finished, 4);
    EXPECT_EQ(counting.left, 0);
    ASSERT_EQ(result.results.size(), 1U);
    EXPECT_EQ(result.results[0].candidate, 1U);
    EXPECT_TRUE(result.results[0].at_edge);
    EXPECT_EQ(result.done, 4);
    EXPECT_EQ(result.reused, 0);
    // Those that choose among them, although their directories are gone.
    ASSERT_TRUE(result.privacy) << result.privacy_problem;
    EXPECT_EQ(result.privacy->runs, 4);
    EXPECT_TRUE(mean_of(result.results[0], "test_loss"));
    EXPECT_TRUE(fs::exists(config.directory / "results.csv"));
    EXPECT_TRUE(fs::exists(config.directory / "runs.csv"));
    EXPECT_TRUE(fs::is_empty(config.directory / "runs"));
    EXPECT_FALSE(fs::exists(config.directory / "claims"));

    const std::string table = read_file(config.directory / "results.csv");
    const SweepResult again = run(config, counting);
    EXPECT_EQ(again.reused, 4);
    EXPECT_EQ(counting.finished, 0);
    EXPECT_EQ(read_file(config.directory / "results.csv"), table);
}

TEST(SweepJob, GoesOnBeyondTheGivenValuesAndCountsThatToo) {
    const TemporaryFolder folder;
    SweepConfig config = small_sweep(folder);
    config.variants[0].settings[4].values = {"0.001", "0.002"};
    config.choose_further = 6;
    Counting counting;
    const SweepResult result = run(config, counting);
    EXPECT_EQ(counting.trainings, 4);
    EXPECT_TRUE(counting.at_least);
    EXPECT_FALSE(counting.still_at_least);
    EXPECT_GT(result.trainings, 4);
    EXPECT_EQ(result.done + result.diverged, result.trainings);
    EXPECT_EQ(counting.finished, result.trainings);
    EXPECT_EQ(counting.left, 0);
    EXPECT_GT(result.results[0].candidate, 1U);
    EXPECT_FALSE(result.results[0].at_edge);
    ASSERT_TRUE(result.privacy) << result.privacy_problem;
    EXPECT_EQ(result.privacy->runs, result.trainings);

    const SweepResult again = run(config, counting);
    EXPECT_EQ(again.reused, result.trainings);
    EXPECT_EQ(counting.known, result.trainings) << "further ones are found again, too";
    EXPECT_FALSE(counting.at_least);
    EXPECT_EQ(counting.finished, 0);
}

TEST(SweepJob, FindsFurtherValuesAgainAfterItWasStopped) {
    const TemporaryFolder folder, other;
    const auto growing = [](const TemporaryFolder& where) {
        SweepConfig config = small_sweep(where);
        config.variants[0].settings[4].values = {"0.016", "0.032"};
        config.choose_further = 6;
        return config;
    };
    const SweepConfig config = growing(folder), whole = growing(other);
    Counting counting;
    long finished = 0, before = 0;
    // In the middle of the values given, of those beyond, and of what measures.
    for (const long stop : {1, 3, 5}) {
        const SweepResult stopped = run(config, counting, [&] { return known_in(config) >= stop; });
        EXPECT_TRUE(stopped.interrupted);
        EXPECT_EQ(stopped.reused, before);
        EXPECT_EQ(known_in(config), stop);
        finished += counting.finished;
        before = stop;
    }
    const SweepResult rest = run(config, counting), at_once = run(whole, counting);
    EXPECT_FALSE(rest.interrupted);
    EXPECT_EQ(at_once.trainings, 4 + 2) << "0.064 and 0.128 beyond the two given, two seeds";
    EXPECT_EQ(rest.reused, 5);
    EXPECT_EQ(finished, 5) << "nothing was trained twice";
    EXPECT_EQ(known_in(config), at_once.trainings);
    EXPECT_EQ(read_file(config.directory / "results.csv"),
              read_file(whole.directory / "results.csv"));
}

TEST(SweepJob, TriesNothingBeyondWhatATrainingRefuses) {
    const TemporaryFolder folder;
    SweepConfig config = small_sweep(folder);
    config.choose = {"edge-probability"};
    config.choose_by = "consensus_distance";  // least where everybody hears everybody
    config.choose_further = 6;
    config.variants[0].settings[4].values = {"0.01"};
    config.variants[0].settings.push_back({"edge-probability", {"0.3", "0.7"}});
    Counting counting;
    const SweepResult result = run(config, counting);
    EXPECT_EQ(result.failed, 1) << "1.633";
    EXPECT_FALSE(result.first_failure);
    EXPECT_EQ(result.results[0].candidate, 1U);
    EXPECT_TRUE(result.results[0].at_edge);
}

TEST(SweepJob, ThatIsStoppedSaysSoAndGoesOnLater) {
    const TemporaryFolder folder;
    const SweepConfig config = small_sweep(folder);
    Counting counting;
    const SweepResult stopped = run(config, counting, [] { return true; });
    EXPECT_TRUE(stopped.interrupted);
    EXPECT_EQ(stopped.done, 0);
    EXPECT_FALSE(stopped.results[0].candidate);
    EXPECT_EQ(run(config, counting).done, 4);
}

TEST(SweepJob, RefusesBeforeTheFirstTraining) {
    const TemporaryFolder folder;
    Counting counting;
    SweepConfig config = small_sweep(folder);
    config.validation_seeds = {"2"};
    test::expect_contains(test::message_of<ConfigError>([&] { (void)run(config, counting); }),
                          "validation-seeds: 2 is among the --seed values");
    config = small_sweep(folder);
    config.variants[0].settings[1].values = {"20", "no number"};
    EXPECT_NE(test::message_of<ConfigError>([&] { (void)run(config, counting); }), "");
    EXPECT_FALSE(fs::exists(config.directory));
}

}  // namespace
}  // namespace sotto

namespace sotto {
namespace {

using Texts = std::vector<std::string>;

/// One cell, which chooses among these values.
SweepConfig choosing(const std::vector<SweepSetting>& settings) {
    SweepConfig config;
    config.variants = {{"all", settings}};
    config.choose.clear();
    for (const SweepSetting& setting : settings) config.choose.push_back(setting.option);
    config.seeds = {"1", "2"};
    return config;
}
SweepConfig choosing_step_size(const Texts& values) { return choosing({{"step-size", values}}); }

/// How a training would end, by the value of its step size.
using Ending = std::function<SweepOutcome(double)>;

SweepOutcome ended_as(SweepOutcome::Status status, int exit_code = 0) {
    SweepOutcome outcome;
    outcome.status = status;
    outcome.exit_code = exit_code;
    return outcome;
}
SweepOutcome with_loss(double value) { return *test::row(value).outcome; }

/// Smallest where the step size is this.
Ending valley(double best) {
    return [best](double step) { return with_loss(std::abs(std::log(step / best))); };
}

double number_given(const SweepTraining& training, const std::string& option) {
    const std::size_t line = ("\n" + training.ini).find("\n" + option + " = ");
    return std::stod(training.ini.substr(line + option.size() + 3));
}

/// Trains one open training after the other, the first or the last of them, until none is left.
/// @return what was trained to choose: the step sizes, in this order.
std::vector<double> play(SweepBoard& board, const Ending& ending, bool last_first = false) {
    std::map<std::string, SweepOutcome> known;
    std::vector<double> tried;
    const auto outcome_of = [&](const SweepTraining& training) -> std::optional<SweepOutcome> {
        const auto found = known.find(training.key);
        if (found == known.end()) return std::nullopt;
        return found->second;
    };
    while (true) {
        board.update(outcome_of);
        const auto open = board.open();
        if (open.empty()) return tried;
        const SweepTraining& next = last_first ? open.back() : open.front();
        const double step = number_given(next, "step-size");
        if (next.validation) tried.push_back(step);
        EXPECT_TRUE(known.emplace(next.key, ending(step)).second) << "trained twice";
    }
}

/// The step size chosen in the first cell.
std::string chosen_in(const SweepBoard& board) {
    return board.cells()[0].candidates.at(*board.results()[0].candidate)[0].second;
}

TEST(SweepBoard, GoesOnUntilTheBestIsAtNoEdge) {
    SweepBoard board(choosing_step_size({"0.1", "0.2"}));
    EXPECT_TRUE(board.may_grow());
    EXPECT_EQ(board.trainings(), 2 + 2);
    EXPECT_EQ(play(board, valley(1.5)), (std::vector{0.1, 0.2, 0.4, 0.8, 1.6, 3.2}));
    EXPECT_EQ(chosen_in(board), "1.6");
    EXPECT_FALSE(board.results()[0].at_edge);
    EXPECT_FALSE(board.may_grow());
    EXPECT_EQ(board.trainings(), 6 + 2);
    EXPECT_EQ(board.results()[0].test.size(), 2U);
}

TEST(SweepBoard, GoesDownAsWell) {
    SweepBoard board(choosing_step_size({"0.2", "0.1"}));
    EXPECT_EQ(play(board, valley(0.03)), (std::vector{0.2, 0.1, 0.05, 0.025, 0.0125}));
    EXPECT_EQ(chosen_in(board), "0.025");
    EXPECT_FALSE(board.results()[0].at_edge);
}

TEST(SweepBoard, TriesNothingWhereAValueInBetweenIsBest) {
    SweepBoard board(choosing_step_size({"0.1", "0.2", "0.4"}));
    EXPECT_EQ(play(board, valley(0.2)).size(), 3U);
    EXPECT_FALSE(board.results()[0].at_edge);
}

TEST(SweepBoard, StopsAtTheLimitAndSaysSo) {
    SweepConfig config = choosing_step_size({"0.1", "0.2"});
    config.choose_further = 2;
    SweepBoard board(config);
    EXPECT_EQ(play(board, valley(100)), (std::vector{0.1, 0.2, 0.4, 0.8}));
    EXPECT_EQ(chosen_in(board), "0.8");
    EXPECT_TRUE(board.results()[0].at_edge);

    config.choose_further = 0;
    SweepBoard as_given(config);
    EXPECT_FALSE(as_given.may_grow());
    EXPECT_EQ(play(as_given, valley(100)), (std::vector{0.1, 0.2}));
    EXPECT_TRUE(as_given.results()[0].at_edge);
}

TEST(SweepBoard, WhereNothingIsLearntStopsAtOnce) {
    SweepBoard board(choosing_step_size({"0.1", "0.2"}));
    EXPECT_EQ(play(board, [](double) { return with_loss(1); }), (std::vector{0.1, 0.2, 0.05}));
    EXPECT_EQ(chosen_in(board), "0.1") << "of equal ones that given first";
    EXPECT_FALSE(board.results()[0].at_edge);
}

TEST(SweepBoard, ADivergedTrainingIsNoReasonToGoOn) {
    const auto diverged_from = [](double limit) {
        return [limit](double step) {
            return step < limit ? valley(100)(step) : ended_as(SweepOutcome::Status::diverged);
        };
    };
    SweepBoard board(choosing_step_size({"0.1", "0.2"}));
    EXPECT_EQ(play(board, diverged_from(0.5)), (std::vector{0.1, 0.2, 0.4, 0.8}));
    EXPECT_EQ(chosen_in(board), "0.4");
    EXPECT_FALSE(board.results()[0].at_edge) << "0.8 was tried, and is worse";

    SweepBoard hopeless(choosing_step_size({"0.1", "0.2"}));
    EXPECT_EQ(play(hopeless, diverged_from(0)).size(), 2U);
    EXPECT_TRUE(hopeless.results()[0].at_edge);
}

TEST(SweepBoard, AValueThatFailsEndsItsSideAndIsNotJudged) {
    SweepBoard board(choosing_step_size({"0.1", "0.2"}));
    const auto refused_above = [](double step) {
        return step < 0.3 ? valley(100)(step) : ended_as(SweepOutcome::Status::failed, 2);
    };
    EXPECT_EQ(play(board, refused_above), (std::vector{0.1, 0.2, 0.4}));
    EXPECT_EQ(chosen_in(board), "0.2");
    EXPECT_TRUE(board.results()[0].at_edge);
    EXPECT_TRUE(board.results()[0].validation.back().training.further);
    EXPECT_FALSE(board.results()[0].validation.front().training.further);
}

TEST(SweepBoard, ChoosesSeveralOptionsOneStepAtATime) {
    // Best at step size 0.8 and l2 0.04, that is outside in both; ends of both scales are far.
    SweepConfig config = choosing({{"step-size", {"0.1", "0.2"}}, {"l2", {"0.01", "0.02"}}});
    SweepBoard board(config);
    std::map<std::string, SweepOutcome> known;
    while (true) {
        board.update([&](const SweepTraining& training) -> std::optional<SweepOutcome> {
            const auto found = known.find(training.key);
            return found == known.end() ? std::nullopt : std::optional(found->second);
        });
        const auto open = board.open();
        if (open.empty()) break;
        known[open.front().key] =
            with_loss(std::abs(std::log(number_given(open.front(), "step-size") / 0.8)) +
                      std::abs(std::log(number_given(open.front(), "l2") / 0.04)));
    }
    const auto& best = board.cells()[0].candidates.at(*board.results()[0].candidate);
    EXPECT_EQ(best, (OptionValues{{"step-size", "0.8"}, {"l2", "0.04"}}));
    EXPECT_FALSE(board.results()[0].at_edge);
    EXPECT_LT(board.cells()[0].candidates.size(), 5U * 4) << "not the whole grid between them";
}

TEST(SweepBoard, WithoutAChoiceOnlyMeasures) {
    SweepBoard board(choosing_step_size({"0.1"}));
    EXPECT_FALSE(board.may_grow());
    EXPECT_TRUE(play(board, valley(100)).empty());
    EXPECT_EQ(board.trainings(), 2);
    EXPECT_FALSE(board.results()[0].at_edge);
}

TEST(SweepBoard, WordsHaveNoEdge) {
    SweepConfig config =
        choosing({{"task", {"logistic", "softmax"}}, {"step-size", {"0.1", "0.2", "0.4"}}});
    SweepBoard board(config);
    EXPECT_EQ(play(board, valley(0.2)).size(), 2U * 3);
    EXPECT_FALSE(board.results()[0].at_edge);
}

TEST(SweepBoard, HandsOutWhatACellNeedsNextBeforeOtherCellsAreReady) {
    SweepConfig config = choosing_step_size({"0.1", "0.2"});
    config.variants[0].settings.push_back({"epsilon", {"1", "2"}});
    SweepBoard board(config);
    // Of the first cell alone it is known how its trainings end.
    board.update([](const SweepTraining& training) -> std::optional<SweepOutcome> {
        if (number_given(training, "epsilon") != 1) return std::nullopt;
        return valley(0.3)(number_given(training, "step-size"));
    });
    EXPECT_TRUE(board.results()[0].candidate);
    EXPECT_FALSE(board.results()[1].candidate);
    EXPECT_EQ(board.open().size(), 2U) << "the second cell's, that choose";
    EXPECT_EQ(board.later(), 2);

    SweepBoard chosen(config);
    chosen.update([](const SweepTraining& training) -> std::optional<SweepOutcome> {
        if (number_given(training, "epsilon") != 1 || !training.validation) return std::nullopt;
        return valley(0.3)(number_given(training, "step-size"));
    });
    const auto open = chosen.open();
    ASSERT_EQ(open.size(), 2U + 2U);
    EXPECT_TRUE(open[1].validation) << "those that choose are first: more may follow from them";
    EXPECT_FALSE(open[2].validation);
}

TEST(SweepBoard, ComesToTheSameInAnyOrder) {
    SweepConfig config = choosing_step_size({"0.1", "0.2"});
    config.variants[0].settings.push_back({"epsilon", {"1", "2"}});
    SweepBoard first(config), last(config);
    (void)play(first, valley(0.7));
    (void)play(last, valley(0.7), true);
    for (std::size_t cell = 0; cell < 2; ++cell) {
        EXPECT_EQ(first.cells()[cell].candidates, last.cells()[cell].candidates);
        EXPECT_EQ(first.results()[cell].candidate, last.results()[cell].candidate);
    }
}

TEST(SweepBoard, RefusesAFigureThatTheTrainingsDoNotHave) {
    SweepBoard board(choosing_step_size({"0.1", "0.2"}));
    EXPECT_THROW((void)play(board, [](double) { return with_loss(std::nan("")); }), ConfigError);
}

}  // namespace
}  // namespace sotto

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

struct CountedRounds final : TrainingListener {
    void on_rounds() override { ++begun; }
    void on_round(long, long, const Ledger&) override { ++rounds; }
    long begun = 0, rounds = 0;
};

std::optional<SweepOutcome> train(const TemporaryFolder& folder,
                                  const std::function<TrainConfig()>& read,
                                  bool stop = false) {
    TrainingListener listener;
    return train_once(
        read,
        folder.path("run"),
        [&] { fs::remove_all(folder.path("run")); },
        1,
        listener,
        [stop] { return stop; });
}

TEST(SweepTraining, ThatIsDoneHasTheMetricsOfItsSummary) {
    const TemporaryFolder folder;
    CountedRounds listener;
    const auto outcome = train_once([] { return test::quadratic_config(4, "ldp", 6); },
                                    folder.path("run"),
                                    [] {},
                                    1,
                                    listener,
                                    [] { return false; });
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->status, SweepOutcome::Status::done) << outcome->error;
    EXPECT_EQ(listener.begun, 1) << "it says when its rounds begin";
    EXPECT_GE(listener.rounds, 6);
    EXPECT_GT(outcome->seconds, 0);
    const test::Json summary = test::read_json(fs::path(folder.path("run")) / "summary.json");
    for (const std::string& metric : sweep_metrics()) {
        const double value = outcome->metrics.at(metric);
        if (summary.at(metric).is_null())
            EXPECT_TRUE(std::isnan(value)) << metric;
        else
            EXPECT_EQ(value, summary.at(metric).get<double>()) << metric;
    }
}

TEST(SweepTraining, ThatDivergesOrFailsIsAnOutcomeToo) {
    const TemporaryFolder folder;
    const auto diverged = train(folder, [] {
        TrainConfig config = test::quadratic_config(4, "none", 400);
        config.plan.clip_norm = 1e6;
        config.plan.steps.step_size = 1e308;
        return config;
    });
    ASSERT_TRUE(diverged);
    EXPECT_EQ(diverged->status, SweepOutcome::Status::diverged) << diverged->error;
    const auto failed = train(folder, []() -> TrainConfig { throw DataError("no such file"); });
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->status, SweepOutcome::Status::failed);
    EXPECT_EQ(failed->error, "no such file");
    EXPECT_EQ(failed->exit_code, static_cast<int>(ExitCode::data));
    EXPECT_TRUE(failed->metrics.empty());
}

TEST(SweepTraining, ThatIsStoppedLeavesNothing) {
    const TemporaryFolder folder;
    EXPECT_FALSE(train(
        folder, [] { return test::quadratic_config(4, "ldp", 6); }, true));
    EXPECT_FALSE(fs::exists(folder.path("run")));
}

}  // namespace
}  // namespace sotto

namespace sotto::cli {
namespace {

TEST(SweepProgress, SaysHowMuchThereIsToTrain) {
    std::FILE* const file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    SweepProgress progress(file);
    progress.on_start(2, 12, 3, true);
    std::rewind(file);
    std::string text(200, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    (void)std::fclose(file);
    EXPECT_EQ(text.substr(0, text.find('\n')),
              "sweep      2 cells, at least 12 trainings; 3 known from an earlier start");
}

TEST(SweepProgress, SaysNothingWithoutAReport) {
    SweepProgress progress(nullptr);
    progress.on_start(1, 1, 0, false);
    progress.on_progress(0, 1, false);
    progress.finish();
}

}  // namespace
}  // namespace sotto::cli
