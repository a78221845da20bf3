// What `sotto plan` and `sotto train` say about secure sums, and where they refuse them.

#include <algorithm>

#include "program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

/// Five agents, all joined but 0 and 1.
std::string nearly_complete(const TempDir& directory) {
    return directory.write("five.edges", "0 2\n0 3\n0 4\n1 2\n1 3\n1 4\n2 3\n2 4\n3 4\n");
}

void expect_exactly_0_and_1(const Json& sums) {
    EXPECT_EQ(sums.at("withstand"), 1);
    const Json& against = sums.at("against");
    EXPECT_EQ(against.at(0).at("exposed"), Json::array());
    EXPECT_EQ(against.at(0).at("smallest_sum"), 3);
    EXPECT_EQ(against.at(1).at("exposed"), Json::array({0, 1}));
    EXPECT_EQ(against.at(1).at("worst").at("colluders"), Json::array({0, 2}));
    EXPECT_EQ(against.at(1).at("worst").at("exposed"), Json::array({1}));
}

constexpr const char* two_colluders =
    "Secure sums, 2 colluders: agents 0, 2 have the message of agent 1; agents 0, 1 (2 of 5) can "
    "lose their message this way.";

TEST(SecureSums, OfAPlanAreSaidForEveryNumberOfColluders) {
    const TempDir directory;
    const Outcome outcome = run_sotto(
        directory,
        one_process,
        {"plan", "--graph", nearly_complete(directory), "--secure-sum", "on", "--json", "p.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_NE(outcome.out.find("1 colluder: nobody's message is learnt"), std::string::npos)
        << outcome.out;
    EXPECT_NE(outcome.out.find(two_colluders), std::string::npos) << outcome.out;
    expect_exactly_0_and_1(json_of(directory / "p.json").at("secure_sums"));
}

TEST(SecureSums, OfAPlanAreSaidOnlyWhereAskedFor) {
    const TempDir directory;
    const Outcome outcome =
        run_sotto(directory,
                  one_process,
                  {"plan", "--agents", "4", "--mechanism", "ldp", "--json", "p.json"});
    EXPECT_EQ(outcome.out.find("Secure sums"), std::string::npos) << outcome.out;
    EXPECT_FALSE(json_of(directory / "p.json").contains("secure_sums"));
}

TEST(SecureSums, OfATrainingAreInItsLedger) {
    const TempDir directory;
    const Outcome outcome = run_sotto(directory,
                                      5,
                                      {"train",
                                       "--task",
                                       "quadratic",
                                       "--graph",
                                       nearly_complete(directory),
                                       "--rounds",
                                       "5",
                                       "--secure-sum",
                                       "on",
                                       "--run-directory",
                                       "run"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const Json ledger = json_of(directory / "run/ledger.json");
    expect_exactly_0_and_1(ledger.at("secure_sums"));
    const auto lines = ledger.at("statements").get<std::vector<std::string>>();
    EXPECT_NE(std::ranges::find(lines, two_colluders), lines.end()) << ledger.dump(1);
    EXPECT_TRUE(std::ranges::any_of(lines, [](const std::string& line) {
        return line.find("is counted without evaluation") != std::string::npos;
    })) << ledger.dump(1);
}

TEST(SecureSums, ThatHideNothingAreRefused) {
    const TempDir directory;
    const Arguments one_peer{"--agents",
                             "8",
                             "--topology",
                             "exponential",
                             "--mixing-schedule",
                             "one-peer",
                             "--mechanism",
                             "ldp",
                             "--secure-sum",
                             "on"};
    for (const char* command : {"plan", "train"}) {
        Arguments arguments{command};
        arguments.insert(arguments.end(), one_peer.begin(), one_peer.end());
        expect_refused(
            directory, arguments, 2, "use a denser --topology, another --mixing-schedule");
    }
    expect_refused(directory,
                   {"plan", "--agents", "2", "--topology", "path", "--secure-sum", "on"},
                   2,
                   "secure-sum: on hides nothing");
    expect_refused(directory,
                   {"plan",
                    "--agents",
                    "6",
                    "--topology",
                    "ring",
                    "--secure-sum",
                    "on",
                    "--coalition-size",
                    "2"},
                   2,
                   "it must withstand 2 colluders");
    expect_refused(
        directory, {"plan", "--mechanism", "cdp", "--secure-sum", "on"}, 2, "trusted aggregator");
}

}  // namespace
}  // namespace sotto::test
