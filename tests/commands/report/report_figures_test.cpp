#include "commands/report/report_figures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "account/account_job.hpp"
#include "commands/report/report_fixtures.hpp"
#include "sotto/privacy/coalitions.hpp"
#include "sotto/views/view_query.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::logistic_config;
using test::message_of;
using test::quadratic_config;
using test::recorded_run;
using test::report_config;
using test::TemporaryFolder;
using test::train;

/// Every observer of the figures, with what it learns.
std::map<std::vector<int>, std::vector<float>> by_observer(const ObserverFigures& figures) {
    std::map<std::vector<int>, std::vector<float>> result;
    long place = 0;
    for (int size = figures.smallest; size < figures.agents && place < figures.observers; ++size)
        for_each_coalition(figures.agents, size, [&](const std::vector<int>& members) {
            if (place >= figures.observers) return;
            const auto begin = figures.epsilon.begin() + place++ * figures.agents;
            result[members] = {begin, begin + figures.agents};
        });
    EXPECT_EQ(place, figures.observers);
    EXPECT_EQ(std::ssize(figures.epsilon), place * figures.agents);
    return result;
}

/// As `sotto account` calls an observer.
std::string name_of_observer(const View& view, const Graph& graph) {
    const ViewRecord* const record = record_of(view, graph);
    return name_of(ViewQuery{record, {view.members, 0}, {}});
}

/// @return how many figures are infinite.
int expect_figures_are_the_accountants(const TrainConfig& config, int size) {
    const RecordedRun run = read_recorded_run(*config.run_directory, config);
    const auto all = report_figures(run, report_config(config, size), Clock::now());
    EXPECT_EQ(all.size(), 2u);
    const auto subject = account_subject_of(run);
    const auto network = make_memory_network(1, 1);
    int infinite = 0;
    for (const ObserverFigures& figures : all) {
        EXPECT_GT(figures.observers, 0) << figures.note;
        for (const auto& [members, epsilon] : by_observer(figures)) {
            AccountConfig account;
            account.subject = subject_config_of(run);
            account.view = name_of_observer({figures.kind, members}, *subject->process.graph);
            const AccountResult result = run_account(account, *subject, *network);
            std::size_t known = 0;
            for (const float value : epsilon) known += std::isnan(value) ? 0 : 1;
            EXPECT_EQ(known, result.pairs.size()) << account.view;
            for (const PairFigure& pair : result.pairs) {
                const float said = epsilon[static_cast<std::size_t>(pair.target)];
                EXPECT_EQ(pair.argument.text, figures.argument.text);
                if (pair.guarantee.infinite()) {
                    ++infinite;
                    EXPECT_TRUE(std::isinf(said)) << account.view << " " << pair.target;
                } else {
                    EXPECT_NEAR(said, pair.guarantee.epsilon, 1e-6 * pair.guarantee.epsilon)
                        << account.view << " about " << pair.target;
                }
            }
        }
    }
    return infinite;
}

TEST(ReportFigures, AreTheAccountants) {
    const TemporaryFolder folder;
    for (const std::string mechanism : {"pairs", "ldp", "cdp", "homomorphic", "zip-dl"}) {
        SCOPED_TRACE(mechanism);
        TrainConfig config = quadratic_config(5, mechanism, 12);
        config.run_directory = folder.path(mechanism);
        train(config, 5);
        (void)expect_figures_are_the_accountants(config, 2);
    }
}

TEST(ReportFigures, AreTheAccountantsWhereAllMessagesBoundPartialViews) {
    const TemporaryFolder folder;
    for (const std::string mechanism : {"pairs", "ldp", "cdp", "homomorphic"}) {
        SCOPED_TRACE(mechanism);
        TrainConfig config = quadratic_config(5, mechanism, 12);
        if (mechanism != "homomorphic") config.plan.final_gossip = 4;
        config.run_directory = folder.path(mechanism);
        train(config, 5);
        (void)expect_figures_are_the_accountants(config, 2);
    }
    TrainConfig config = logistic_config(folder, 4, "pairs", 12);
    config.plan.adjacency = Adjacency::record_add_remove;
    config.plan.participation.poisson = true;
    config.plan.batch_size = 20;
    config.run_directory = folder.path("sampled");
    train(config, 4);
    (void)expect_figures_are_the_accountants(config, 2);
}

TEST(ReportFigures, EndWithTheirTime) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(6, "pairs", 30), folder, 6);
    ReportConfig config = report_config(run.config, 4);
    config.time_limit = 0;
    for (const ObserverFigures& figures : report_figures(run, config, Clock::now())) {
        EXPECT_EQ(figures.observers, 1);
        EXPECT_TRUE(figures.out_of_time);
    }
    config.time_limit = 1e6;
    const auto once = report_figures(run, config, Clock::now());
    config.threads = 2;
    const auto again = report_figures(run, config, Clock::now());
    for (std::size_t i = 0; i < once.size(); ++i) {
        EXPECT_FALSE(once[i].out_of_time);
        EXPECT_EQ(std::memcmp(once[i].epsilon.data(),
                              again[i].epsilon.data(),
                              once[i].epsilon.size() * sizeof(float)),
                  0);
    }
}

TEST(ReportFigures, SayThatAProtectionIsBroken) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(5, "corn", 12);
    config.run_directory = folder.path("corn");
    train(config, 5);
    EXPECT_GT(expect_figures_are_the_accountants(config, 2), 0);
    config = quadratic_config(4, "none", 5);
    config.run_directory = folder.path("none");
    train(config, 4);
    EXPECT_GT(expect_figures_are_the_accountants(config, 1), 12);
}

TEST(ReportFigures, CountGossipStepsSchedulesAndRoundsThatAreCorrelated) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(5, "muffliato", 8);
    config.plan.gossip_steps = 3;
    config.plan.steps.kind = StepSchedule::Kind::inverse_sqrt;
    config.run_directory = folder.path("gossip");
    train(config, 5);
    (void)expect_figures_are_the_accountants(config, 2);

    config = quadratic_config(4, "ldp", 9);
    config.graph.mixing_schedule = "random";
    config.graph.topology.topology = Topology::erdos_renyi;
    config.run_directory = folder.path("schedule");
    train(config, 4);
    (void)expect_figures_are_the_accountants(config, 1);

    config = quadratic_config(5, "ldp", 9);
    config.secure_sum = true;
    config.run_directory = folder.path("sums");
    train(config, 5);
    EXPECT_EQ(report_figures(read_recorded_run(*config.run_directory, config),
                             report_config(config, 1),
                             Clock::now())[1]
                  .kind,
              View::Kind::secure_sum);
    (void)expect_figures_are_the_accountants(config, 2);

    config = logistic_config(folder, 4, "space-time", 12);
    config.plan.adjacency = Adjacency::record;
    config.plan.participation.cycle = 4;
    config.plan.spatial_mechanism = "decor";
    config.run_directory = folder.path("correlated");
    train(config, 4);
    (void)expect_figures_are_the_accountants(config, 1);
}

TEST(ReportFigures, CountEveryPhaseOfARunInWhichAnAgentLeft) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(6, "ldp", 40);
    config.graph.topology.topology = Topology::complete;
    config.checkpoint_every = 10;
    config.noise_seed.reset();
    config.run_directory = folder.path("run");
    train(config, 6, 25);
    TrainConfig resumed = config;
    resumed.resume = ResumeConfig{*config.run_directory, {2}};
    train(resumed, 5);
    const RecordedRun run = read_recorded_run(*config.run_directory, config);
    ASSERT_EQ(run.history.phases.size(), 2u);
    EXPECT_EQ(account_subject_of(run)->process.phases.size(), 2u);
    (void)expect_figures_are_the_accountants(config, 1);
    // The ledger's headline is against the eavesdropper.
    const auto all = report_figures(run, report_config(config, 0), Clock::now());
    const auto ledger = test::read_json(folder.path("run") + "/ledger.json");
    for (const auto& agent : ledger["agents"]) {
        const auto u = agent["agent"].get<std::size_t>();
        EXPECT_NEAR(all[0].epsilon[u], agent["epsilon"].get<double>(), 1e-5) << u;
    }
}

TEST(ReportFigures, OfACoalitionThatCannotBeAreRefused) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(4, "ldp", 5), folder, 4);
    expect_contains(message_of<ConfigError>([&] {
                        (void)report_figures(run, report_config(run.config, 4), Clock::now());
                    }),
                    "0 to 3");
}

TEST(ReportFigures, SayWhyThereAreNone) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(5, "zip-dl", 6);
    config.l2 = 0.1;  // which partial views of noise on messages do not account for
    config.run_directory = folder.path("run");
    train(config, 5);
    const auto all = report_figures(
        read_recorded_run(*config.run_directory, config), report_config(config), Clock::now());
    EXPECT_GT(all[0].observers, 0);
    EXPECT_EQ(all[1].observers, 0);
    expect_contains(all[1].note, "no figures of this view: l2: 0.1 is not possible");
}

}  // namespace
}  // namespace sotto
