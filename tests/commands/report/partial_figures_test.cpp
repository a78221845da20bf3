#include "commands/report/partial_figures.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "commands/report/full_figures.hpp"
#include "commands/report/report_fixtures.hpp"
#include "sotto/views/view_losses.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::in_seconds;
using test::message_of;
using test::quadratic_config;
using test::recorded_run;
using test::report_config;
using test::TemporaryFolder;

TEST(PartialFigures, AreOfSumsWhereMessagesAreSummed) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "ldp", 5);
    EXPECT_EQ(partial_view_of(recorded_run(config, folder, 4)), View::Kind::neighbours);
    config.secure_sum = true;
    const TemporaryFolder other;
    EXPECT_EQ(partial_view_of(recorded_run(config, other, 4)), View::Kind::secure_sum);
}

TEST(PartialFigures, AreThoseOfTheView) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(5, "decor", 6), folder, 5);
    const ObserverFigures figures = figures_of_partial_views(
        run, report_config(run.config, 1), in_seconds(1000), in_seconds(1000));
    EXPECT_EQ(figures.smallest, 1);
    ASSERT_EQ(figures.observers, 5);
    EXPECT_TRUE(figures.note.empty());
    const auto subject = account_subject_of(run);
    const std::vector<int> targets{0, 1, 2, 4};
    const auto expected =
        view_losses(subject->process, subject->use, {View::Kind::neighbours, {3}}, targets, {});
    for (std::size_t t = 0; t < targets.size(); ++t) {
        const auto target = static_cast<std::size_t>(targets[t]);
        const double mu =
            subject->exposures[target].sensitivity * std::sqrt(expected[t].certified());
        const double epsilon = guarantee_of(subject->plan, mu, subject->delta).epsilon;
        EXPECT_NEAR(figures.epsilon[5 * 3 + target], epsilon, 1e-5 * epsilon);
    }
    EXPECT_TRUE(std::isnan(figures.epsilon[5 * 3 + 3]));
}

TEST(PartialFigures, AreThoseOfAllMessagesWhereTheAccountantTakesThem) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "pairs", 6);
    EXPECT_FALSE(all_messages_stand_for_partial_views(recorded_run(config, folder, 4)));
    const TemporaryFolder other;
    config.plan.final_gossip = 3;
    const RecordedRun run = recorded_run(config, other, 4);
    EXPECT_TRUE(all_messages_stand_for_partial_views(run));
    const ObserverFigures all =
        figures_of_all_messages(run, report_config(run.config, 1), in_seconds(1000));
    const ObserverFigures figures = figures_as_of_all_messages(run, all);
    EXPECT_EQ(figures.kind, View::Kind::neighbours);
    ASSERT_EQ(figures.observers, 4);
    const std::vector<float> rest(all.epsilon.begin() + 4, all.epsilon.end());
    for (std::size_t i = 0; i < rest.size(); ++i)
        EXPECT_TRUE(figures.epsilon[i] == rest[i] || i % 5 == 0) << i;
}

TEST(PartialFigures, EndWhenTheirTimeIsOver) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(5, "ldp", 4), folder, 5);
    const ReportConfig config = report_config(run.config, 2);
    ObserverFigures figures =
        figures_of_partial_views(run, config, in_seconds(1000), in_seconds(-1));
    EXPECT_EQ(figures.observers, 5) << "no coalition";
    figures = figures_of_partial_views(run, config, in_seconds(-1), in_seconds(1000));
    EXPECT_EQ(figures.observers, 1);
    EXPECT_TRUE(figures.out_of_time);
    expect_contains(figures.note, "of 15 observers are in this page, for the time they take");
}

TEST(PartialFigures, OfRunsThatAreTooLongAreRefused) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(2, "ldp", 5001), folder, 2);
    expect_contains(message_of<ConfigError>([&] {
                        (void)figures_of_partial_views(
                            run, report_config(run.config), in_seconds(1000), in_seconds(1000));
                    }),
                    "partial views of 5001 rounds are too much work");
}

}  // namespace
}  // namespace sotto
