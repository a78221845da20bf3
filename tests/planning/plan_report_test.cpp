#include "planning/plan_report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "config/run_fixtures.hpp"
#include "planning/planning_fixtures.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using test::config_of;
using test::expect_contains;
using test::message_of;
using test::plan;
using test::Planned;
using test::random_topography;

std::string report_of(const Planned& result,
                      const PlanConfig& config,
                      const std::vector<std::string>& statements = {}) {
    return plan_report_text(result.planned, config, result.exposures, result.budgets, statements);
}

/// The line that begins with this word; "" where there is none.
std::string line_of(const std::string& report, const std::string& word) {
    const std::size_t begin = report.find("\n" + word + " ");
    if (begin == std::string::npos) return {};
    return report.substr(begin + 1, report.find('\n', begin + 1) - begin - 1);
}

TEST(PlanReport, SaysTheBudgetAndWhatIsReachedEachWithItsOwnFigures) {
    const PlanConfig config = config_of("pairs");
    const Planned result = plan(config, random_topography(5));
    const std::string text = report_of(result, config);
    expect_contains(line_of(text, "budget"),
                    "epsilon 10 at delta 1e-05, exact calibration: mu 2.00045;");
    const NoisePlan& noise = result.planned.design.plan;
    const Guarantee reached = largest(guarantees(noise, {}, result.exposures, config.delta));
    EXPECT_LT(*reached.loss.mu(), 1.99) << "the test needs a plan that leaves less than the budget";
    expect_contains(line_of(text, "protected"),
                    fmt::format("epsilon {:.6g} (mu {:.6g})", reached.epsilon, *reached.loss.mu()));
    expect_contains(text, "who sees all messages too: epsilon 10 (mu 2.00045)\n");
}

TEST(PlanReport, SaysBudgetsOfTheirOwnFromTheSmallestToTheLargest) {
    const PlanConfig config = config_of("ldp");
    Planned result = plan(config, random_topography(5));
    result.budgets[3] = make_budget(2, config.delta, config.calibration);
    expect_contains(line_of(report_of(result, config), "budget"),
                    "from epsilon 2 at delta 1e-05, exact calibration: mu 0.501552");
    expect_contains(line_of(report_of(result, config), "budget"), " to epsilon 10 at delta");
}

TEST(PlanWords, SayForWhomAgainstWhomAndHowLoud) {
    const auto words_of = [](const PlanConfig& config) {
        const Planned result = plan(config, random_topography(5));
        return plan_words(result.planned, config, result.budgets);
    };
    PlanConfig config = config_of("pairs");
    expect_contains(
        words_of(config).privacy,
        "all data of an agent, against whoever sees all messages, including any one agent");
    expect_contains(words_of(config).plan, "pairs, 5 agents, ");
    expect_contains(words_of(config).plan, " rounds: epsilon 10 at delta 1e-05 for all data of");
    expect_contains(words_of(config).noise, " times that of a trusted server; ");
    expect_contains(words_of(config).noise, "; noise drawn independently has ");
    config.adjacency = Adjacency::record;
    expect_contains(words_of(config).privacy, "one record, against");
    EXPECT_EQ(words_of(config_of("cdp")).noise.find("variance as with a trusted server; "), 0U);
    expect_contains(words_of(config_of("cdp")).privacy, "agent 0 is trusted");
    expect_contains(words_of(config_of("ldp")).noise, ", as much as noise drawn independently");
    expect_contains(words_of(config_of("ldp")).privacy, ", including all other agents together");
    expect_contains(words_of(config_of("corn")).privacy, "may learn more, even everything");
    expect_contains(words_of(config_of("none")).plan, "NO privacy");
    EXPECT_EQ(words_of(config_of("none")).noise, "");
}

TEST(PlanReport, NamesEveryMechanismAndWhatItPromises) {
    const Topography topography = random_topography(5);
    for (const auto& mechanism : mechanisms().records()) {
        const PlanConfig config = config_of(mechanism.name);
        const Planned result = plan(config, topography);
        const std::string text = report_of(result, config, {"One.", "Two."});
        expect_contains(text, "plan       " + mechanism.name + " for 5 agents, solved in");
        EXPECT_TRUE(text.ends_with("note       One.\nnote       Two.\n")) << text;
        if (!mechanism.needs_budget) {
            expect_contains(text, "\nnoise      none: epsilon is infinite\n");
            EXPECT_EQ(line_of(text, "budget"), "");
            continue;
        }
        const bool on_gradients = result.planned.design.plan.entry == NoiseEntry::gradient;
        const bool pure = result.budgets.front().noise == StreamDistribution::laplace;
        expect_contains(line_of(text, "budget"),
                        pure ? "epsilon 10, pure; adjacency agent"
                             : "epsilon 10 at delta 1e-05, exact calibration: mu ");
        expect_contains(line_of(text, "noise"), on_gradients ? "on gradients" : "on messages");
        EXPECT_EQ(line_of(text, "noise").find("in L1 norm") != std::string::npos, pure);
        EXPECT_EQ(line_of(text, "noise left").empty(), !on_gradients);
        // A plan that is made against coalitions leaves less to the eavesdropper alone.
        expect_contains(line_of(text, "protected"),
                        "every agent, epsilon " +
                            std::string(mechanism.default_coalition_size > 0 ? "" : "10"));
        EXPECT_EQ(text.find("and against any one of them who sees all") != std::string::npos,
                  mechanism.default_coalition_size > 0);
        // Shared seeds protect against outsiders only, and the report does not hide it.
        if (mechanism.name == "corn" || mechanism.name == "cdp")
            expect_contains(line_of(text, "curious"), "NOT protected");
    }
}

TEST(PlanReport, SaysWhatAgentsContributeWhereItIsNotAGradientARound) {
    const Topography topography = random_topography(5);
    PlanConfig config = config_of("dp-fedavg");
    EXPECT_EQ(line_of(report_of(plan(config, topography), config), "updates"), "");
    config.local_steps = 4;
    config.client_probability = 0.25;
    config.adjacency = Adjacency::agent_zero_out;
    config.participation.poisson = true;
    EXPECT_EQ(line_of(report_of(plan(config, topography), config), "updates"),
              "updates    4 local steps; agents take part with probability 0.25, divided by it");
}

TEST(PlanReport, SaysWhereAPlanComesFrom) {
    const test::TemporaryFolder folder;
    const Topography topography = random_topography(5);
    PlanConfig config = config_of("ldp");
    const Planned solved = plan(config, topography);
    config.plan_file = folder.write("mine.json", to_json(solved.planned.design.plan));
    Planned read = plan(config, topography);
    expect_contains(report_of(read, config), "ldp for 5 agents, from " + *config.plan_file);
    EXPECT_EQ(line_of(report_of(read, config), "optimal"), "") << "nobody knows";
    read.planned.kept = true;
    expect_contains(report_of(read, config), "ldp for 5 agents, of the run's directory");
}

TEST(PlanReport, OfOneAgentHasNoCuriousOne) {
    const PlanConfig config = config_of("ldp");
    const Planned alone = plan(config, random_topography(1));
    EXPECT_EQ(line_of(report_of(alone, config), "curious"), "");
    const Planned two = plan(config, random_topography(2));
    expect_contains(line_of(report_of(two, config), "curious"), "learns most, about agent");
}

TEST(PlanReport, CountsGossipStepsAndCoalitions) {
    const Topography topography = random_topography(6);
    PlanConfig config = config_of("muffliato");
    config.gossip_steps = 3;
    expect_contains(line_of(report_of(plan(config, topography), config), "budget"),
                    "100 rounds of 3 gossip steps");
    config = config_of("pairs");
    config.coalition_size = 2;
    expect_contains(report_of(plan(config, topography), config),
                    "and against any 2 of them who see all messages too: epsilon 10 (mu ");
}

PlanConfig updates_of(const std::string& mechanism, int steps) {
    PlanConfig config;
    config.mechanism = mechanism;
    config.local_steps = steps;
    return config;
}

std::string refusal(const PlanConfig& config) {
    return message_of<ConfigError>([&] { require_possible_updates(config); });
}

TEST(LocalSteps, AreForFederatedAveraging) {
    EXPECT_NO_THROW(require_possible_updates(updates_of("dp-fedavg", 5)));
    EXPECT_NO_THROW(require_possible_updates(updates_of("pairs", 1)));
    for (const char* mechanism : {"pairs", "cdp", "none", "zip-dl"})
        expect_contains(refusal(updates_of(mechanism, 5)),
                        std::string("local-steps: 5 is not possible with mechanism ") + mechanism);
    expect_contains(refusal(updates_of("ldp", 5)), "(allowed: 1; or mechanism dp-fedavg)");
}

TEST(FederatedAveraging, HasNoGossipSteps) {
    PlanConfig config = updates_of("dp-fedavg", 1);
    config.gossip_steps = 3;
    expect_contains(refusal(config), "gossip-steps: 3 is not possible with mechanism dp-fedavg");
    config.mechanism = "muffliato";
    EXPECT_NO_THROW(require_possible_updates(config));
}

TEST(LocalSteps, AreNotForRecordsNorForAClipThatIsLearnt) {
    PlanConfig config = updates_of("dp-fedavg", 2);
    config.adjacency = Adjacency::agent_zero_out;
    EXPECT_NO_THROW(require_possible_updates(config));
    config.adjacency = Adjacency::record;
    expect_contains(refusal(config), "local-steps: 2 is not possible with adjacency record");
    config.adjacency = Adjacency::agent;
    config.learn_clip = true;
    expect_contains(refusal(config), "local-steps: 2 is not possible with --clip-norm learnt");
}

TEST(SampledAgents, AreForFederatedAveragingOfAgentsThatMayBeAbsent) {
    PlanConfig config = updates_of("dp-fedavg", 1);
    config.client_probability = 0.25;
    expect_contains(refusal(config),
                    "client-probability: 0.25 is not possible with adjacency agent");
    config.adjacency = Adjacency::agent_zero_out;
    expect_contains(refusal(config), "with participation every (allowed: poisson)");
    config.participation.poisson = true;
    EXPECT_NO_THROW(require_possible_updates(config));
    config.mechanism = "cdp";
    expect_contains(refusal(config), "client-probability: 0.25 is not possible with mechanism cdp");
}

TEST(LocalSteps, AreNotForTasksWhoseGradientsAreTheirData) {
    LocalTask task;
    TrainConfig config;
    config.plan = updates_of("dp-fedavg", 2);
    EXPECT_NO_THROW(require_possible_updates(config, task));
    task.rows_are_rounds = true;
    EXPECT_THROW(require_possible_updates(config, task), ConfigError);
    config.plan.local_steps = 1;
    EXPECT_NO_THROW(require_possible_updates(config, task));
}

TEST(SampledAgents, AreNotHiddenByPaddedRounds) {
    TrainConfig config;
    config.pad_rounds = true;
    EXPECT_NO_THROW(require_possible_updates(config, LocalTask{}));
    config.plan.client_probability = 0.5;
    EXPECT_THROW(require_possible_updates(config, LocalTask{}), ConfigError);
}

}  // namespace
}  // namespace sotto
