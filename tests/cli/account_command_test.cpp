// `sotto account` as a user runs it, against figures of an independent program
// (tests/golden/accounting.json).

#include <algorithm>
#include <cmath>
#include <map>

#include "program.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

Json golden(const std::string& name) {
    return json_of(std::string(SOTTO_SOURCE_DIR "/tests/golden/") + name);
}

/// An edge-list file of a golden graph.
std::string graph_file(const TempDir& directory, const std::string& name) {
    const Json graphs = golden("covariance.json")["graphs"];
    for (const Json& graph : graphs) {
        if (graph["name"] != name) continue;
        std::string text;
        for (const Json& edge : graph["edges"])
            text += edge[0].dump() + " " + edge[1].dump() + "\n";
        return directory.write(name + ".edges", text);
    }
    ADD_FAILURE() << "no graph " << name;
    return {};
}

/// Private variance 1, and one stream of variance 1 an edge.
std::string decor_file(const TempDir& directory, const std::string& name) {
    NoisePlan plan;
    plan.mechanism = "decor";
    plan.scale = 1;
    plan.grid_step_log2 = -30;
    const Json graphs = golden("covariance.json")["graphs"];
    for (const Json& graph : graphs) {
        if (graph["name"] != name) continue;
        plan.agents = graph["n"];
        for (int u = 0; u < plan.agents; ++u) {
            plan.groups.push_back({{u}});
            plan.streams.push_back({u, 0});
            plan.rows.push_back({u, NoiseRow::all_receivers, {u}, {1}});
        }
        for (const Json& edge : graph["edges"]) {
            const int stream = static_cast<int>(plan.streams.size());
            plan.groups.push_back({{edge[0].get<int>(), edge[1].get<int>()}});
            plan.streams.push_back({stream, 0});
            for (const int end : {0, 1}) {
                NoiseRow& row = plan.rows[edge[static_cast<std::size_t>(end)].get<std::size_t>()];
                row.streams.push_back(stream);
                row.coefficients.push_back(end == 0 ? 1 : -1);
            }
        }
    }
    plan.validate();
    return directory.write(name + ".json", to_json(plan));
}

std::string listed(const Json& agents) {
    std::string text;
    for (const Json& agent : agents) text += (text.empty() ? "" : ",") + agent.dump();
    return text;
}

Json account(const TempDir& directory, Arguments arguments, int ranks = one_process) {
    arguments.insert(arguments.begin(), "account");
    arguments.insert(arguments.end(), {"--quiet", "--json", "-"});
    const Outcome outcome = run_sotto(directory, ranks, arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    return outcome.exit_code == 0 ? Json::parse(outcome.out) : Json();
}

class GoldenRow : public testing::TestWithParam<int> {};

TEST_P(GoldenRow, IsReachedOnTheCommandLine) {
    const TempDir directory;
    const Json row = golden("accounting.json")["rows"][static_cast<std::size_t>(GetParam())];
    const std::string graph = row["graph"], attackers = listed(row["attackers"]);
    const std::map<std::string, Arguments> views{
        {"pndp", {"--mechanism", "ldp", "--noise-std", "1", "--view", "coalition:" + attackers}},
        {"pndp_muffliato_k3",
         {"--mechanism",
          "muffliato",
          "--gossip-steps",
          "3",
          "--noise-std",
          "1",
          "--view",
          "coalition:" + attackers}},
        {"pndp_antipgd",
         {"--mechanism", "anti-pgd", "--noise-std", "1", "--view", "coalition:" + attackers}},
        {"secldp_decor",
         {"--plan",
          decor_file(directory, graph),
          "--sensitivity",
          "1",
          "--view",
          "coalition:" + attackers}},
        {"secure_sum",
         {"--mechanism", "ldp", "--noise-std", "1", "--view", "secure-sum:" + attackers}}};
    ASSERT_EQ(row["views"].size(), views.size());
    for (const auto& [name, options] : views) {
        SCOPED_TRACE(name);
        const Json& expected = row["views"][name];
        Arguments arguments = options;
        arguments.insert(arguments.end(),
                         {"--graph",
                          graph_file(directory, graph),
                          "--rounds",
                          row["rounds"].dump(),
                          "--targets",
                          row["target"].dump()});
        const Json json = account(directory, arguments);
        ASSERT_EQ(json["pairs"].size(), 1U);
        const Json& pair = json["pairs"][0];
        EXPECT_EQ(pair["observers"], row["attackers"]);
        EXPECT_EQ(pair["target"], row["target"]);
        const Json& squared = pair["sensitivity_squared"];
        const auto near = [](const Json& found, const Json& wanted, double tolerance) {
            EXPECT_NEAR(
                found.get<double>(), wanted.get<double>(), tolerance * wanted.get<double>());
        };
        near(squared["constant_sign"], expected["sum"], 1e-7);
        near(squared["abs_sum"], expected["abs_sum"], 1e-7);
        near(squared["tight_upper"], expected["tight_upper"], 1e-4);
        EXPECT_LE(squared["tight_lower"].get<double>(),
                  expected["tight_upper"].get<double>() * (1 + 1e-9));
        // Sensitivity and noise are 1, so mu^2 is what certifies least.
        const double certified = std::min({squared["tight_upper"].get<double>(),
                                           squared["abs_sum"].get<double>(),
                                           squared["all_messages"].get<double>()});
        EXPECT_NEAR(pair["renyi_alpha2"].get<double>(), certified, 1e-9 * certified);
        EXPECT_NEAR(std::pow(pair["mu"].get<double>(), 2), certified, 1e-9 * certified);
        EXPECT_EQ(pair["argument"], "non-adaptive ([U] Theorem 8)");

        arguments.insert(arguments.end(), {"--participation", "cyclic:4"});
        near(account(directory, arguments)["pairs"][0]["sensitivity_squared"]["abs_sum"],
             expected["cyclic_b4"],
             1e-7);
    }
}

INSTANTIATE_TEST_SUITE_P(Some, GoldenRow, testing::Values(0, 2, 5, 9, 12));

const Arguments small{"--topology", "ring", "--agents", "6", "--rounds", "5", "--mechanism", "ldp"};

Arguments with(Arguments arguments, const Arguments& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

TEST(Account, SaysTheSameOnEveryNumberOfRanks) {
    const TempDir directory;
    for (const std::string view : {"all-nodes", "worst-coalition:2"}) {
        Json alone = account(directory, with(small, {"--view", view}));
        Json over_mpi = account(directory, with(small, {"--view", view}), 3);
        for (Json* json : {&alone, &over_mpi}) json->erase("seconds");
        EXPECT_EQ(alone, over_mpi) << view;
        EXPECT_EQ(alone["pairs"].size(), view == "all-nodes" ? 30U : 6U);
    }
}

TEST(Account, ConvertsBetweenMuAndEpsilon) {
    const TempDir directory;
    const Json there = account(directory, {"--mu", "1.2", "--delta", "1e-5"});
    const Json back = account(directory, {"--epsilon", there["epsilon"].dump(), "--delta", "1e-5"});
    EXPECT_NEAR(there["epsilon"].get<double>(), 5.413485985, 1e-8);
    EXPECT_NEAR(back["mu"].get<double>(), 1.2, 1e-9);
    EXPECT_NEAR(there["renyi_alpha2"].get<double>(), 1.44, 1e-12);
    EXPECT_FALSE(there.contains("pairs"));
}

TEST(Account, ConvertsRandomAllocation) {
    const TempDir directory;
    const Arguments ten{"--allocation", "10", "--epochs", "1", "--delta", "1e-5"};
    const Json there = account(directory, with(ten, {"--noise-multiplier", "1"}));
    const Json known = golden("allocation.json")["rows"][0];
    ASSERT_EQ(known["rounds_an_epoch"], 10);
    EXPECT_NEAR(there["epsilon"].get<double>(), known["epsilon"].get<double>(), 2e-3);
    EXPECT_NEAR(there["poisson_epsilon"].get<double>(), 2.855, 2e-3);
    const Json noise = account(
        directory, {"--allocation", "100", "--epochs", "20", "--epsilon", "1", "--delta", "1e-5"});
    EXPECT_LE(noise["epsilon"].get<double>(), 1);
    EXPECT_GT(noise["epsilon"].get<double>(), 0.99);
    EXPECT_GT(noise["poisson_epsilon"].get<double>(), 1.01);
    for (const auto& [arguments, mentions] :
         {std::pair<Arguments, std::string>{{"--allocation", "10", "--delta", "1e-5"}, "--epochs"},
          {with(ten, {"--noise-multiplier", "1", "--rounds", "10"}), "--rounds"},
          {with(ten, {"--noise-multiplier", "1", "--epsilon", "1"}), "--noise-multiplier"},
          {with(ten, {"--noise-multiplier", "0.05"}), "allowed: 0.1 or more"},
          {{"--allocation", "1", "--epochs", "1", "--epsilon", "1"}, "--allocation: 1"}}) {
        const Outcome outcome = run_sotto(directory, one_process, with({"account"}, arguments));
        EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
        EXPECT_NE(outcome.err.find(mentions), std::string::npos) << outcome.text();
    }
}

TEST(Account, NamesWhyAFigureHolds) {
    const TempDir directory;
    const auto argument = [&](const Arguments& more) {
        return account(directory, with(small, more))["pairs"][0]["argument"].get<std::string>();
    };
    EXPECT_EQ(argument({"--view", "node:0"}), "non-adaptive ([U] Theorem 8)");
    EXPECT_EQ(argument({"--view", "node:0", "--inputs", "fixed"}),
              "exact, inputs fixed in advance");
    EXPECT_EQ(argument({"--view", "all-messages:0,3"}), "all messages seen");
    EXPECT_EQ(argument({"--view", "eavesdropper"}), "all messages seen");
}

TEST(Account, GivesPureEpsilonsUnderLaplaceNoise) {
    const TempDir directory;
    // [H] eq. 27: epsilon = step G (i^2 + i) / b, with G = Delta / 2 and b = S / sqrt(2).
    const auto answer = [&](const std::string& view, int ranks) {
        return account(directory,
                       {"--topology",
                        "ring",
                        "--agents",
                        "6",
                        "--rounds",
                        "4",
                        "--mechanism",
                        "homomorphic",
                        "--step-size",
                        "0.3",
                        "--noise-std",
                        "2",
                        "--sensitivity",
                        "1.4",
                        "--view",
                        view},
                       ranks);
    };
    const double expected = 0.3 * 0.7 * (16 + 4) / (2 / std::sqrt(2.0));
    for (const std::string view : {"eavesdropper", "all-messages:1", "node:2", "all-nodes"}) {
        const Json json = answer(view, one_process);
        for (const Json& pair : json["pairs"]) {
            EXPECT_TRUE(pair["mu"].is_null() && pair["renyi_alpha2"].is_null());
            EXPECT_NEAR(pair["epsilon"].get<double>(), expected, 1e-9);
            EXPECT_EQ(pair["argument"],
                      view.starts_with("node") || view == "all-nodes" ? "bound: all messages seen"
                                                                      : "all messages seen");
        }
        EXPECT_EQ(json["delta"], 0);
        EXPECT_NEAR(json["mean_epsilon"].get<double>(), expected, 1e-9);
    }
    Json alone = answer("worst-coalition:2", one_process);
    Json over_mpi = answer("worst-coalition:2", 3);
    for (Json* json : {&alone, &over_mpi}) json->erase("seconds");
    EXPECT_EQ(alone, over_mpi);
    EXPECT_EQ(alone["worst_coalition"]["proved_worst"], true);
    const Outcome refused = run_sotto(
        directory,
        one_process,
        {"account", "--mechanism", "homomorphic", "--rounds", "5", "--view", "secure-sum:1"});
    EXPECT_EQ(refused.exit_code, 4) << refused.text();
    EXPECT_NE(refused.err.find("secure-sum is not possible"), std::string::npos) << refused.text();
}

TEST(Account, CountsStepSizesInPartialViewsOnly) {
    const TempDir directory;
    const auto mu = [&](const std::string& view, const std::string& schedule) {
        return account(directory,
                       with(small, {"--view", view, "--step-schedule", schedule}))["pairs"][0]["mu"]
            .get<double>();
    };
    EXPECT_NE(mu("node:0", "constant"), mu("node:0", "inverse-sqrt"));
    EXPECT_EQ(mu("eavesdropper", "constant"), mu("eavesdropper", "inverse-sqrt"));
}

TEST(Account, WritesTheTableByDistanceForPlotting) {
    const TempDir directory;
    const Json json =
        account(directory, with(small, {"--view", "all-nodes", "--by-distance", "table.txt"}));
    std::vector<std::string> rows;
    for (const auto& line : lines_of(content_of(directory / "table.txt")))
        if (!line.starts_with("#")) rows.push_back(line);
    ASSERT_EQ(rows.size(), 3U);
    ASSERT_EQ(json["by_distance"].size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        std::istringstream words(rows[i]);
        double distance = 0, min = 0, mean = 0, max = 0;
        words >> distance >> min >> mean >> max;
        const Json& row = json["by_distance"][i];
        EXPECT_EQ(distance, row["distance"].get<double>());
        EXPECT_NEAR(min, row["min"].get<double>(), 1e-6);
        EXPECT_NEAR(mean, row["mean"].get<double>(), 1e-6);
        EXPECT_NEAR(max, row["max"].get<double>(), 1e-6);
    }
}

TEST(Account, DrawsThePictureWhereGnuplotIsInstalledAndSaysSoWhereNot) {
    const TempDir directory;
    Arguments arguments = with({"account"}, small);
    arguments = with(arguments, {"--quiet", "--by-distance", "picture.svg"});
    const Outcome outcome = run_sotto(directory, one_process, arguments);
    if (outcome.exit_code == 0) {
        EXPECT_NE(content_of(directory / "picture.svg").find("<svg"), std::string::npos);
        EXPECT_FALSE(content_of(directory / "picture.svg.txt").empty());
    } else {
        EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
        EXPECT_NE(outcome.err.find("gnuplot"), std::string::npos) << outcome.text();
        return;
    }
    // Nothing finite to draw: said, and the figures are there all the same.
    arguments = with(arguments, {"--mechanism", "corn", "--json", "corn.json"});
    const auto repeated = std::ranges::find(arguments, "ldp");
    arguments.erase(repeated - 1, repeated + 1);
    const Outcome infinite = run_sotto(directory, one_process, arguments);
    EXPECT_EQ(infinite.exit_code, 2) << infinite.text();
    EXPECT_NE(infinite.err.find("no finite epsilon"), std::string::npos) << infinite.text();
    EXPECT_EQ(json_of(directory / "corn.json").at("infinite"), true);
}

TEST(Account, ReadsMatricesOfAnotherSystem) {
    const TempDir directory;
    // numpy 1.0 format, 1 x 2 and 1 x 1: O = g_0 + 3 g_1 + 2 z.
    const auto npy = [](const std::string& shape, const std::vector<double>& values) {
        std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }";
        while ((10 + header.size() + 1) % 64 != 0) header += ' ';
        header += '\n';
        std::string bytes("\x93NUMPY\x01\x00", 8);
        bytes += static_cast<char>(header.size() % 256);
        bytes += static_cast<char>(header.size() / 256);
        bytes += header;
        bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
        return bytes;
    };
    directory.write("a.npy", npy("(1, 2)", {1, 3}));
    directory.write("b.npy", npy("(1, 1)", {2}));
    const Json json = account(
        directory, {"--observation-a", "a.npy", "--observation-b", "b.npy", "--agents", "2"});
    ASSERT_EQ(json["pairs"].size(), 2U);
    EXPECT_EQ(json["pairs"][0]["target"], 1);
    EXPECT_NEAR(json["pairs"][0]["mu"].get<double>(), 1.5, 1e-9);
    EXPECT_NEAR(json["pairs"][1]["mu"].get<double>(), 0.5, 1e-9);
}

struct Refused {
    std::string name;
    Arguments arguments;
    std::string mentions;
};
std::ostream& operator<<(std::ostream& stream, const Refused& refused) {
    return stream << refused.name;
}
class AccountRefuses : public testing::TestWithParam<Refused> {};

TEST_P(AccountRefuses, WithOneLineThatSaysWhat) {
    const TempDir directory;
    const Outcome outcome =
        run_sotto(directory, one_process, with({"account"}, with(small, GetParam().arguments)));
    EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
    EXPECT_EQ(error_lines(outcome.err).size(), 1U) << outcome.text();
    EXPECT_NE(outcome.err.find(GetParam().mentions), std::string::npos) << outcome.text();
}

INSTANTIATE_TEST_SUITE_P(
    Everything,
    AccountRefuses,
    testing::Values(
        Refused{"agent", {"--view", "node:6"}, "agent 6 does not exist (allowed: 0 to 5)"},
        Refused{"view", {"--view", "nodes:1"}, "did you mean 'node'"},
        Refused{"own_target", {"--view", "node:1", "--targets", "1"}, "agent 1 is an observer"},
        Refused{"target", {"--targets", "9"}, "--targets: agent 9"},
        Refused{"coalition_of_all", {"--view", "worst-coalition:6"}, "must be 1 to 5"},
        Refused{"two_noises", {"--noise-std", "1", "--epsilon", "3"}, "--epsilon is given too"},
        Refused{"noise_std", {"--noise-std", "0"}, "--noise-std: 0"},
        Refused{"inputs", {"--inputs", "fix"}, "did you mean 'fixed'"},
        Refused{"departures", {"--departures", "9:1"}, "--departures: round 9"},
        Refused{"folder", {"--by-distance", "none/x.txt"}, "none/x.txt"},
        Refused{"half_a_pair", {"--observation-a", "a.npy"}, "--observation-b"},
        Refused{"mu_and_epsilon", {"--mu", "1", "--epsilon", "3"}, "--mu"},
        Refused{"mu", {"--mu", "-1"}, "--mu: -1"},
        Refused{"gossip_steps", {"--gossip-steps", "0"}, "--gossip-steps: 0"}),
    [](const auto& instance) { return instance.param.name; });

TEST(AccountOverMpi, OfRanksStartedWithDifferentOptionsIsRefused) {
    const TempDir directory;
    const Arguments options = with({"account"}, small);
    for (const Arguments& other : {Arguments{"--view", "worst-coalition:2"},
                                   Arguments{"--targets", "1,2"},
                                   Arguments{"--noise-std", "2"},
                                   Arguments{"--tight-gap", "1e-3"},
                                   Arguments{"--common-variance"},
                                   Arguments{"--mu", "1"}}) {
        const Outcome outcome =
            Process(disagreeing_command(options, with(options, other)), directory.path()).wait();
        EXPECT_EQ(outcome.exit_code, 5) << outcome.text();
        const auto errors = error_lines(outcome.err);
        ASSERT_EQ(errors.size(), 1U) << outcome.text();
        EXPECT_NE(errors.front().find("rank 1 was started with " + other.front()),
                  std::string::npos)
            << errors.front();
    }
}

TEST(AccountOverMpi, RefusesOnceForAllRanks) {
    const TempDir directory;
    const Outcome outcome =
        run_sotto(directory, 3, with({"account"}, with(small, {"--view", "node:6"})));
    EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
    EXPECT_EQ(error_lines(outcome.err).size(), 1U) << outcome.text();
}

}  // namespace
}  // namespace sotto::test
