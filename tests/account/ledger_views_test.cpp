#include "account/ledger_views.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "config/run_fixtures.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/views/view_losses.hpp"
#include "sotto/views/view_sensitivity.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;
using test::ring;
using test::TemporaryFolder;

TEST(LedgerViews, SayWhatTheAccountantSays) {
    const TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(5, "decor", 12);
    config.run_directory = folder.path("run");
    config.views = "node:1;all-messages:1;all-nodes;secure-sum:0,2";
    config.plan.steps.kind = StepSchedule::Kind::inverse_sqrt;
    config.plan.gossip_steps = 2;
    const auto network = make_memory_network(5, 1);
    TrainingListener silent;
    (void)run_training(config, *network, silent, [] { return false; });
    const Json ledger = test::read_json(folder.path("run") + "/ledger.json");
    ASSERT_EQ(ledger["views"].size(), 4u);

    const Graph graph = ring(5);
    const NoisePlan plan = plan_from_json(read_file(folder.path("run") + "/plan.json"), "plan");
    MessageProcess process;
    process.graph = &graph;
    process.plan = &plan;
    process.phases.push_back(
        {12, MixingSchedule({MixingMatrix::from_rule(graph, MixingRule::metropolis)}), {}});
    process.gossip = 2;
    for (long t = 0; t < 12; ++t) process.step_sizes.push_back(config.plan.steps.at(t));
    const std::vector<int> others{0, 2, 3, 4};
    double largest = 0, bound = 0;
    for (const auto& squared :
         view_sensitivity(process, {View::Kind::neighbours, {1}}, others, {}, {})) {
        largest = std::max(largest, std::sqrt(squared.certified()));
        bound = std::max(bound, std::sqrt(std::min(squared.abs_sum, squared.trivial)));
    }
    const double unit = ledger["agents"][0]["sensitivity"];
    const Json& node = ledger["views"][0];
    EXPECT_EQ(node["view"], "node:1");
    EXPECT_EQ(node["argument"], "non-adaptive ([U] Theorem 8)");
    EXPECT_EQ(node["rounds"], 12);
    EXPECT_EQ(node["observers"], Json::array({1}));
    EXPECT_GE(node["mu"].get<double>(), unit * largest * (1 - 1e-9));
    EXPECT_LE(node["mu"].get<double>(), unit * bound * (1 + 1e-9));
    expect_contains(node["statement"], "not a guarantee");

    const auto headline = guarantees(plan, {{1}}, std::vector<Exposure>(5, {unit, 12, 1}), 1e-5);
    double all_messages = 0;
    for (const int u : others)
        all_messages =
            std::max(all_messages, headline[static_cast<std::size_t>(u)].loss.mu().value());
    EXPECT_NEAR(ledger["views"][1]["mu"], all_messages, 1e-9 * all_messages);
    EXPECT_EQ(ledger["views"][1]["argument"], "all messages seen");
    EXPECT_GE(ledger["views"][2]["mu"].get<double>(), node["mu"].get<double>() * (1 - 1e-9));
    EXPECT_EQ(ledger["headline"]["argument"], "adaptive");

    config.run_directory = folder.path("other");
    for (const auto& [views, part] :
         std::vector<std::pair<std::string, std::string>>{{"node:5", "agent 5 does not exist"},
                                                          {"worst-coalition:1", "sotto account"},
                                                          {"coalition:0,1,2,3,4", "nobody"}}) {
        config.views = views;
        const auto fresh = make_memory_network(5, 1);
        expect_contains(message_of<ConfigError>([&] {
                            (void)run_training(config, *fresh, silent, [] { return false; });
                        }),
                        part);
    }
}

TEST(LedgerViews, SayThePureEpsilonUnderLaplaceNoise) {
    const TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(5, "homomorphic", 4);
    config.run_directory = folder.path("run");
    config.views = "node:1;eavesdropper";
    config.l2 = 0.1;
    const auto network = make_memory_network(5, 1);
    TrainingListener silent;
    (void)run_training(config, *network, silent, [] { return false; });
    const Json ledger = test::read_json(folder.path("run") + "/ledger.json");
    ASSERT_EQ(ledger["views"].size(), 2u);
    for (const Json& view : ledger["views"]) {
        EXPECT_TRUE(view["mu"].is_null());
        EXPECT_EQ(view["infinite"], false);
        EXPECT_NEAR(view["epsilon"], ledger["headline"]["epsilon"], 1e-9);
        EXPECT_EQ(view["statement"].get<std::string>().find("not a guarantee"), std::string::npos);
    }
    EXPECT_EQ(ledger["views"][0]["argument"], "bound: all messages seen");
    EXPECT_EQ(ledger["views"][1]["argument"], "all messages seen");
}

TEST(LedgerViews, SayInWordsThatASharedSeedBreaksTheProtection) {
    const TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(4, "corn", 6);
    config.run_directory = folder.path("run");
    config.views = "node:2;eavesdropper";
    const auto network = make_memory_network(4, 1);
    TrainingListener silent;
    (void)run_training(config, *network, silent, [] { return false; });
    const Json ledger = test::read_json(folder.path("run") + "/ledger.json");
    EXPECT_TRUE(ledger["views"][0]["mu"].is_null());
    EXPECT_TRUE(ledger["views"][0]["mean_epsilon"].is_null());
    EXPECT_EQ(ledger["views"][0]["infinite"], true);
    expect_contains(ledger["views"][0]["statement"], "breaks the protection");
    EXPECT_EQ(ledger["views"][1]["infinite"], false);
    EXPECT_NEAR(ledger["views"][1]["epsilon"], ledger["headline"]["epsilon"], 1e-6);
}

TEST(Without, TakesMembersOut) {
    EXPECT_EQ(without({0, 1, 2, 5}, {1, 3, 5}), (std::vector<int>{0, 2}));
    EXPECT_EQ(without({4}, {}), std::vector<int>{4});
    EXPECT_TRUE(without({}, {1}).empty());
}

SubjectConfig decor_of_seven() {
    SubjectConfig config;
    config.graph.topology.agents = 7;
    config.graph.topology.edge_probability = 0.5;
    config.plan.mechanism = "decor";
    config.plan.utility = {Utility::Kind::horizon, 10};
    config.plan.rounds = 5;
    config.plan.noise_std = 1;
    return config;
}

Question about(View::Kind kind, std::vector<int> members, std::vector<int> targets) {
    Question question;
    question.view.kind = kind;
    question.view.members = std::move(members);
    question.targets = std::move(targets);
    return question;
}

TEST(Answer, IsThatOfTheViewInTheOrderOfTheQuestions) {
    for (const int threads : {1, 2}) {
        const auto network = make_memory_network(1, threads);
        const auto subject = build_account_subject(decor_of_seven(), *network);
        std::vector<Question> questions;
        questions.push_back(about(View::Kind::neighbours, {0}, {1, 4}));
        questions.push_back(about(View::Kind::all_messages, {}, {2}));
        questions.push_back(about(View::Kind::secure_sum, {3, 5}, {0, 1, 2}));
        AskOptions options;
        options.threads = threads;
        const Answers answers = answer(*network, *subject, questions, options);
        ASSERT_EQ(answers.size(), questions.size());
        for (std::size_t i = 0; i < questions.size(); ++i) {
            const auto expected = view_losses(
                subject->process, subject->use, questions[i].view, questions[i].targets, {});
            ASSERT_EQ(answers[i].size(), expected.size());
            for (std::size_t t = 0; t < expected.size(); ++t) {
                EXPECT_EQ(answers[i][t].infinite, expected[t].infinite);
                EXPECT_EQ(answers[i][t].certified(), expected[t].certified());
            }
        }
    }
}

TEST(Answer, OfNoQuestionIsNone) {
    const auto network = make_memory_network(1, 1);
    const auto subject = build_account_subject(decor_of_seven(), *network);
    EXPECT_TRUE(answer(*network, *subject, {}, {}).empty());
}

}  // namespace
}  // namespace sotto
