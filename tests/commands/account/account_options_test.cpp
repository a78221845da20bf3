#include "commands/account/account_options.hpp"

#include "config/run_fixtures.hpp"

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
    EXPECT_TRUE(options.account.subject.fixed_inputs);
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
