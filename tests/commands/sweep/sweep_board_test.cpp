#include "commands/sweep/sweep_board.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "commands/sweep/sweep_fixtures.hpp"
#include "sotto/core/error.hpp"

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
