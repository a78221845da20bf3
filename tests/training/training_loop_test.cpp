#include "training/training_loop.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "sotto/privacy/gdp.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::Json;
using test::quadratic_config;
using test::read_metrics;
using test::TemporaryFolder;
using test::train;
using test::Watcher;

TEST(TrainingLoop, StopsWhenAskedAndCountsTheRoundsThatHappened) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "corn", 200000);
    config.run_directory = folder.path("run");
    Watcher watcher;
    const TrainResult result = train(config, watcher, [&] { return watcher.completed >= 50; });
    EXPECT_TRUE(result.interrupted);
    EXPECT_GE(result.rounds, 50);
    EXPECT_LT(result.rounds, 2000);
    EXPECT_EQ(result.rounds, watcher.completed);
    const Json ledger = test::read_json(folder.path("run/ledger.json"));
    EXPECT_EQ(ledger["status"], "interrupted");
    EXPECT_EQ(ledger["rounds"]["planned"], 200000);
    EXPECT_EQ(ledger["rounds"]["completed"], result.rounds);
    EXPECT_EQ(ledger["rounds"]["accounted"], result.rounds);
    // mu grows with the square root of the rounds.
    const double mu = gdp_mu(10, 1e-5) * std::sqrt(static_cast<double>(result.rounds) / 200000.0);
    EXPECT_NEAR(result.mu, mu, 1e-6 * mu);
    EXPECT_NEAR(ledger["headline"]["mu"].get<double>(), mu, 1e-6 * mu);
    EXPECT_NEAR(result.epsilon, gdp_epsilon(mu, 1e-5), 1e-5 * result.epsilon);
    EXPECT_LT(result.epsilon, 10);
    EXPECT_EQ(test::read_json(folder.path("run/summary.json"))["interrupted"], true);
    EXPECT_EQ(read_metrics(folder.path("run")).back()[0], std::to_string(result.rounds));
    for (int u = 0; u < 4; ++u)
        EXPECT_EQ(read_npy(folder.path("run/agents/" + std::to_string(u) + "/model.npy")).rows(),
                  2);
}

TEST(TrainingLoop, EvaluatesFiftyTimesARunUnlessToldOtherwise) {
    const TemporaryFolder folder;
    for (const auto& [every, rounds, times] :
         {std::tuple(0L, 200L, 51U), {0L, 10L, 11U}, {7L, 20L, 4U}, {100L, 20L, 2U}}) {
        TrainConfig config = quadratic_config(3, "ldp", rounds);
        config.run_directory = folder.path(std::to_string(every) + "of" + std::to_string(rounds));
        config.evaluate_every = every;
        Watcher watcher;
        (void)train(config, watcher, [] { return false; });
        EXPECT_EQ(watcher.evaluated.size(), times) << every << " of " << rounds;
        EXPECT_EQ(watcher.evaluated.front(), 0);
        EXPECT_EQ(watcher.evaluated.back(), rounds);
        EXPECT_TRUE(std::ranges::is_sorted(watcher.epsilons));
    }
}

TEST(TrainingLoop, EvaluatesOnSomeRecordsAndOnTheWholeTestSetAfterTheLastRound) {
    const TemporaryFolder folder;
    const auto records_of = [&](const std::string& name, const auto& asked) {
        TrainConfig config = quadratic_config(3, "ldp", 4);
        config.run_directory = folder.path(name);
        config.evaluate_every = 2;
        config.optimality_gap = false;
        config.evaluated_records = asked;
        Watcher watcher;
        (void)train(config, watcher, [] { return false; });
        std::vector<std::string> result;
        const auto rows = read_metrics(config.run_directory.value());
        for (std::size_t i = 1; i < rows.size(); ++i)
            result.push_back(rows[i].at(rows[i].size() - 2) + " " + rows[i].back());
        return result;
    };
    using Texts = std::vector<std::string>;
    EXPECT_EQ(records_of("auto", std::optional<EvaluatedRecords>()),
              (Texts{"1000 1000", "1000 1000", "all 1000"}));
    EXPECT_EQ(records_of("all", EvaluatedRecords{}), (Texts{"all all", "all all", "all all"}));
    EXPECT_EQ(records_of("some", EvaluatedRecords{7, 7}), (Texts{"7 7", "7 7", "7 7"}));
    EXPECT_EQ(test::read_json(folder.path("some/summary.json"))["evaluated_records"],
              (Json{{"test", 7}, {"train", 7}}));
}

TEST(TrainingLoop, KeepsTheProgressOfTheRun) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(3, "ldp", 12);
    config.run_directory = folder.path("run");
    const auto network = make_memory_network(3, 1);
    OpenRun open = open_run(test::prepare(config, *network));
    const sotto::Run& run = open.prepared.run;
    Trainer trainer(*network,
                    run.topography.schedule(),
                    run.plan,
                    NoiseSource(run.plan, open.rings, 1),
                    std::move(open.prepared.agents),
                    open.prepared.initial,
                    {});
    Watcher watcher;
    const std::function<bool()> never = [] { return false; };
    TrainingLoop loop(open, trainer, watcher, never);
    loop.begin({});
    EXPECT_EQ(watcher.evaluated, std::vector<long>{0});
    for (long round = 0; round < 12; ++round) {
        EXPECT_TRUE(loop.more());
        loop.run_round();
        EXPECT_EQ(open.progress.rounds, round + 1);
    }
    EXPECT_FALSE(loop.more());
    loop.end();
    EXPECT_EQ(open.progress.rounds, 12);
    EXPECT_FALSE(open.progress.interrupted);
    EXPECT_GT(open.progress.totals.loop_seconds, 0);
    EXPECT_GT(open.progress.totals.evaluate_seconds, 0);
    EXPECT_TRUE(std::isfinite(open.progress.evaluation.train_loss_mean_model));
    EXPECT_EQ(watcher.completed, 12);
}

}  // namespace
}  // namespace sotto
