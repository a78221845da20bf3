#include "commands/report/full_figures.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "commands/report/report_fixtures.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::in_seconds;
using test::quadratic_config;
using test::recorded_run;
using test::report_config;
using test::TemporaryFolder;

TEST(FullFigures, AreTheGuaranteesOfThePlanAgainstEveryCoalition) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(4, "pairs", 6), folder, 4);
    const ObserverFigures figures =
        figures_of_all_messages(run, report_config(run.config, 1), in_seconds(1000));
    EXPECT_EQ(figures.kind, View::Kind::all_messages);
    EXPECT_EQ(figures.smallest, 0);
    ASSERT_EQ(figures.observers, 5);
    ASSERT_EQ(figures.epsilon.size(), 20U);
    EXPECT_EQ(figures.note, "coalitions of up to 1 agent are in this page");
    const PrivacyPhase& phase = run.history.phases.front();
    for (int observer = -1; observer < 4; ++observer) {
        const std::vector<int> members =
            observer < 0 ? std::vector<int>{} : std::vector<int>{observer};
        const Eigen::VectorXd precision = observed_precision(phase.plan, {members});
        for (int u = 0; u < 4; ++u) {
            const float said = figures.epsilon[static_cast<std::size_t>(4 * (observer + 1) + u)];
            EXPECT_EQ(std::isnan(said), u == observer);
            if (u == observer) continue;
            const double mu =
                phase.sensitivity[static_cast<std::size_t>(u)] * std::sqrt(6 * precision(u));
            const double epsilon = guarantee_of(phase.plan, mu, run.config.plan.delta).epsilon;
            EXPECT_NEAR(said, epsilon, 1e-5 * epsilon);
        }
    }
}

TEST(FullFigures, EndWhenTheirTimeIsOver) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(5, "ldp", 4), folder, 5);
    ReportConfig config = report_config(run.config, 2);
    config.time_limit = 7;
    const ObserverFigures figures = figures_of_all_messages(run, config, in_seconds(-1));
    EXPECT_EQ(figures.observers, 1) << "the eavesdropper, whatever it takes";
    EXPECT_EQ(figures.epsilon.size(), 5U);
    EXPECT_TRUE(figures.out_of_time);
    expect_contains(figures.note, "1 of 16 observers are in this page, for the time they take");
    expect_contains(figures.note, "--time-limit 7;");
}

}  // namespace
}  // namespace sotto
