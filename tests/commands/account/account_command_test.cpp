#include "commands/account/account_command.hpp"

#include "account/account_subject.hpp"
#include "account/plan_job.hpp"
#include "config/run_fixtures.hpp"
#include "net/memory_network.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

TEST(Conversion, IsWhatMuOrABudgetByItselfAsksFor) {
    EXPECT_TRUE(converts_only({{"mu", "1"}}));
    EXPECT_TRUE(converts_only({{"mu", "1"}, {"view", "all-nodes"}}));
    EXPECT_TRUE(converts_only({{"epsilon", "1"}}));
    EXPECT_TRUE(converts_only({{"epsilon", "1"}, {"delta", "1e-6"}, {"threads", "2"}}));
    EXPECT_TRUE(converts_only({{"epsilon", "1"}, {"json", "-"}, {"quiet", "true"}}));
    for (const char* option : {"rounds", "view", "agents", "tight-gap", "by-distance", "mechanism"})
        EXPECT_FALSE(converts_only({{"epsilon", "1"}, {option, "3"}})) << option;
    EXPECT_TRUE(converts_only({{"epsilon", "1"}, {"private-choice", "8"}, {"choice-shape", "0"}}));
    EXPECT_FALSE(converts_only({}));
    EXPECT_FALSE(converts_only({{"delta", "1e-6"}}));
}

TEST(AccountOptionsThatAreRead, FillTheQuestionAndItsSubject) {
    const AccountOptions options = read_account_options({{"agents", "6"},
                                                         {"mechanism", "ldp"},
                                                         {"view", "node:1"},
                                                         {"inputs", "fixed"},
                                                         {"tight-gap", "1e-3"},
                                                         {"l2", "0.5"},
                                                         {"departures", "3:1"}});
    EXPECT_EQ(options.account.subject.graph.topology.agents, 6);
    EXPECT_EQ(options.account.subject.plan.mechanism, "ldp");
    EXPECT_EQ(options.account.view, "node:1");
    EXPECT_EQ(options.account.subject.inputs, Inputs::fixed);
    EXPECT_EQ(options.account.how.tight_gap, 1e-3);
    EXPECT_EQ(options.account.subject.l2, 0.5);
    EXPECT_EQ(options.account.subject.departures, "3:1");
    EXPECT_FALSE(options.of_matrices());
    EXPECT_TRUE(read_account_options({{"observation-b", "b.npy"}}).of_matrices());
}

TEST(AccountOptionsThatAreRead, ProtectRecordsWhereOnesThatTakePartInTurnAreMeant) {
    const OptionTexts cyclic{{"participation", "cyclic:4"}, {"sensitivity", "1"}};
    EXPECT_EQ(read_account_options(cyclic).account.subject.plan.adjacency, Adjacency::record);
    OptionTexts agents = cyclic;
    agents["adjacency"] = "agent";
    EXPECT_EQ(read_account_options(agents).account.subject.plan.adjacency, Adjacency::agent);
    EXPECT_EQ(read_account_options({{"sensitivity", "1"}}).account.subject.plan.adjacency,
              Adjacency::agent);
}

TEST(AccountOptionsThatAreRead, MeanThePlanThatPlanMakesOfTheSameWords) {
    const OptionTexts records{{"adjacency", "record-add-remove"},
                              {"participation", "cyclic-poisson:auto"},
                              {"sampling-probability", "0.05"},
                              {"epsilon", "8"},
                              {"rounds", "40"}};
    OptionTexts over_rounds = records;
    over_rounds["mechanism"] = "mafalda";
    for (OptionTexts given : {OptionTexts{},
                              {{"mechanism", "corn"}, {"gossip-steps", "auto"}},
                              {{"mechanism", "mafalda"},
                               {"adjacency", "record"},
                               {"participation", "cyclic:5"},
                               {"batch-size", "1"},
                               {"dimension", "100000000"}},
                              records,
                              over_rounds}) {
        given["agents"] = "6";
        const MadePlan made = make_plan(read_plan_options(given));
        const auto network = make_memory_network(6, 1);
        const auto subject =
            build_account_subject(read_account_options(given).account.subject, *network);
        EXPECT_EQ(subject->plan.hash(), made.plan().hash()) << made.plan().mechanism;
        EXPECT_EQ(subject->settled.gossip_steps, made.config.plan.gossip_steps);
        EXPECT_EQ(name_of(subject->settled.participation), name_of(made.config.plan.participation));
        for (std::size_t u = 0; u < 6; ++u)
            EXPECT_EQ(subject->exposures[u].sensitivity_squared_over_rounds,
                      made.counted.exposures[u].sensitivity_squared_over_rounds);
    }
}

TEST(AccountOptionsThatAreRead, AreChecked) {
    const auto refusal = [](const OptionTexts& given) {
        return message_of<ConfigError>([&] { (void)read_account_options(given); });
    };
    expect_contains(refusal({{"noise-std", "1"}, {"epsilon", "3"}}), "--epsilon is given too");
    expect_contains(refusal({{"inputs", "fixd"}}), "did you mean 'fixed'");
    expect_contains(refusal({{"mu", "0"}}), "--mu: 0");
    expect_contains(refusal({{"tight-gap", "2"}}), "--tight-gap");
}

}  // namespace
}  // namespace sotto
