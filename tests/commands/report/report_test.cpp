#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "commands/report/report_job.hpp"
#include "commands/report/report_page.hpp"
#include "run/run_fixtures.hpp"
#include "sotto/privacy/coalitions.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::logistic_config;
using test::message_of;
using test::quadratic_config;
using test::TemporaryFolder;

/// Dies, or stops, once so many rounds are done.
struct Fate final : TrainingListener {
    void on_round(long completed, long) override {
        if (completed == die_after) throw std::runtime_error("killed");
    }
    long die_after = 0;
};

void train(const TrainConfig& config, int there, long die_after = 0) {
    const auto network = make_memory_network(there, 1);
    Fate fate;
    fate.die_after = die_after;
    if (die_after > 0)
        EXPECT_THROW((void)run_training(config, *network, fate, [] { return false; }),
                     std::runtime_error);
    else
        (void)run_training(config, *network, fate, [] { return false; });
}

/// Trains in a folder, and reads the run again.
RecordedRun recorded_run(TrainConfig config, const TemporaryFolder& folder, int there) {
    config.run_directory = folder.path("run");
    train(config, there);
    return read_recorded_run(*config.run_directory, config);
}

ReportConfig report_config(const TrainConfig& config, std::optional<int> size = {}) {
    ReportConfig report;
    report.directory = *config.run_directory;
    report.run = config;
    report.coalition_size = size;
    return report;
}

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

std::string view_of(View::Kind kind, const std::vector<int>& members) {
    std::string list;
    for (const int member : members) list += (list.empty() ? "" : ",") + std::to_string(member);
    if (kind == View::Kind::all_messages)
        return members.empty() ? "eavesdropper" : "all-messages:" + list;
    if (kind == View::Kind::secure_sum) return "secure-sum:" + list;
    return (members.size() == 1 ? "node:" : "coalition:") + list;
}

/// @return how many figures are infinite.
int expect_figures_are_the_accountants(const TrainConfig& config, int size) {
    const RecordedRun run = read_recorded_run(*config.run_directory, config);
    const auto all = report_figures(run, report_config(config, size));
    EXPECT_EQ(all.size(), 2u);
    const auto subject = account_subject_of(run);
    const auto network = make_memory_network(1, 1);
    int infinite = 0;
    for (const ObserverFigures& figures : all) {
        EXPECT_GT(figures.observers, 0) << figures.note;
        for (const auto& [members, epsilon] : by_observer(figures)) {
            AccountConfig account;
            static_cast<SubjectConfig&>(account) = subject_config_of(run);
            account.view = view_of(figures.kind, members);
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
                             report_config(config, 1))[1]
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
    const auto pictures = noise_pictures(read_recorded_run(folder.path("correlated"), config));
    ASSERT_EQ(pictures.size(), 2u);
    EXPECT_EQ(pictures[1].values.rows(), 12);
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
    const auto all = report_figures(run, report_config(config, 0));
    const auto ledger = test::read_json(folder.path("run") + "/ledger.json");
    for (const auto& agent : ledger["agents"]) {
        const auto u = agent["agent"].get<std::size_t>();
        EXPECT_NEAR(all[0].epsilon[u], agent["epsilon"].get<double>(), 1e-5) << u;
    }
}

TEST(ReportFigures, OfACoalitionThatCannotBeAreRefused) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(4, "ldp", 5), folder, 4);
    expect_contains(
        message_of<ConfigError>([&] { (void)report_figures(run, report_config(run.config, 4)); }),
        "0 to 3");
}

TEST(NoisePictures, ShowTheCovarianceOfThePlan) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(5, "pairs", 6), folder, 5);
    const auto pictures = noise_pictures(run);
    ASSERT_EQ(pictures.size(), 1u);
    EXPECT_EQ(pictures[0].values, spatial_covariance(run.history.phases[0].plan));
    EXPECT_LT(pictures[0].values(0, 1), 0) << "pairs share noise of opposite signs";
    EXPECT_EQ(pictures[0].names, (std::vector<std::string>{"0", "1", "2", "3", "4"}));
}

TEST(RecordedRun, WhoseGraphFileHasChangedIsRefused) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "ldp", 5);
    config.graph.file = folder.write("graph.edges", "0 1\n1 2\n2 3\n3 0\n");
    config.run_directory = folder.path("run");
    train(config, 4);
    EXPECT_EQ(read_recorded_run(*config.run_directory, config).rounds, 5);
    (void)folder.write("graph.edges", "0 1\n1 2\n2 3\n3 0\n0 2\n");
    expect_contains(
        message_of<DataError>([&] { (void)read_recorded_run(*config.run_directory, config); }),
        "has changed since");
}

TEST(ReportPage, KeepsDataInsideItsElementAndFetchesNothing) {
    try {
        require_page_libraries();
    } catch (const ConfigError& error) {
        expect_contains(error.what(), "libjs-chart.js");
        GTEST_SKIP() << error.what();
    }
    const std::string page = page_of("a<b>", R"({"x":"</script><!-- "})");
    expect_contains(page, "<title>a&lt;b&gt; - ");
    expect_contains(page, R"({"x":"<\/script><\u0021-- "})");
    EXPECT_EQ(page.substr(0, page.find("<script>")).find("{{"), std::string::npos)
        << "every place of the frame is filled";
    for (const char* fetches : {"<link", "src=", "@import", "url("})
        EXPECT_EQ(page.substr(0, page.find("<script>")).find(fetches), std::string::npos)
            << fetches;
}

}  // namespace
}  // namespace sotto
