// Two data sets that differ in one record of one agent. Whether the job goes on, how many messages
// it sends and how long they are must not tell which one it is, whatever the record holds.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "cli/program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

struct Neighbours {
    std::string name;
    std::string record;  ///< of agent 1, in the place of its first
    Arguments options{};
};

std::ostream& operator<<(std::ostream& stream, const Neighbours& neighbours) {
    return stream << neighbours.name;
}

/// What others see of a job of three ranks.
struct Seen {
    int exit_code = -1;
    std::vector<std::string> errors;
    std::string wire;  ///< number and bytes of every exchange of rank 1
    std::string rounds_evaluated;
    std::vector<Json> bytes_sent;  ///< by rank
    std::string out;
    friend bool operator==(const Seen&, const Seen&) = default;
};

std::ostream& operator<<(std::ostream& stream, const Seen& seen) {
    stream << "exit code " << seen.exit_code;
    for (const auto& error : seen.errors) stream << "\n" << error;
    return stream << "\n" << seen.rounds_evaluated << "\n" << seen.wire;
}

std::string first_column(const std::string& table) {
    std::string column;
    for (const auto& line : lines_of(table)) column += line.substr(0, line.find(',')) + " ";
    return column;
}

Seen train_on(const TempDir& directory, const std::string& record, const Arguments& more) {
    for (int agent = 0; agent < 3; ++agent) {
        const std::string first = agent == 1 ? record + "\n" : "-1 1:3 2:0.5 3:1\n";
        (void)directory.write(fmt::format("data-{}.svm", agent), first + small_data(39));
    }
    (void)directory.write("test.svm", small_data(20));
    Arguments arguments{"train",
                        "--data",
                        "data-%r.svm",
                        "--test-data",
                        "test.svm",
                        "--topology",
                        "complete",
                        "--noise-seed",
                        "5",
                        "--epsilon",
                        "1",
                        "--step-size",
                        "20",
                        "--rounds",
                        "30",
                        "--eval-every",
                        "3",
                        "--batch-size",
                        "40",
                        "--quiet",
                        "--run-directory",
                        "run"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    if (std::ranges::find(more, "--mechanism") == more.end())
        arguments.insert(arguments.end(), {"--mechanism", "ldp"});
    Arguments command = sotto_command(3, arguments);
    *(std::ranges::find(command, std::string("train")) - 1) = SOTTO_DEVIATING_PROGRAM;
    ::setenv("SOTTO_TEST_DEVIATION", "keeps_a_log", 1);
    ::setenv("SOTTO_TEST_RANK", "1", 1);
    const Outcome outcome = Process(command, directory.path()).wait();
    Seen seen{.exit_code = outcome.exit_code,
              .errors = error_lines(outcome.err),
              .wire = content_of(directory / "exchanges.log"),
              .rounds_evaluated = first_column(content_of(directory / "run/metrics.csv")),
              .bytes_sent = {},
              .out = outcome.out};
    if (outcome.exit_code != 0) return seen;
    const Json summary = json_of(directory / "run/summary.json");
    for (const auto& rank : summary.at("ranks")) seen.bytes_sent.push_back(rank.at("bytes_sent"));
    EXPECT_EQ(summary.dump().find("set_to_zero"), std::string::npos) << "gathered";
    return seen;
}

class NeighbouringData : public ::testing::TestWithParam<Neighbours> {};

TEST_P(NeighbouringData, EndTheSameWithTheSameMessages) {
    const Neighbours& neighbours = GetParam();
    const TempDir honest, poisoned;
    const Seen usual = train_on(honest, "+1 1:3 2:0.5 3:1", neighbours.options);
    const Seen other = train_on(poisoned, neighbours.record, neighbours.options);
    EXPECT_EQ(usual.exit_code, 0) << usual;
    EXPECT_EQ(usual, other);
    // Thirty rounds, and one exchange after the last where nothing speaks against it.
    const auto last = json_of(honest / "run/summary.json").at("final_gossip").get<std::size_t>();
    EXPECT_LE(last, 1U);
    EXPECT_EQ(lines_of(usual.wire).size(), 30 + last) << usual.wire;
    for (int agent = 0; agent < 3; ++agent) {
        const std::string file = fmt::format("run/agents/{}/report.json", agent);
        const Json report = json_of(honest / file);
        EXPECT_EQ(report.at("gradients_set_to_zero"), 0);
        EXPECT_EQ(report.at("records_set_to_zero"), 0);
        const auto mode = std::filesystem::status(poisoned / file).permissions();
        EXPECT_EQ(mode & std::filesystem::perms::all,
                  std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    }
}

constexpr const char* overflowing = "+1 1:1.7e308 2:1.7e308 3:-1.7e308";

INSTANTIATE_TEST_SUITE_P(
    OfOneAgent,
    NeighbouringData,
    ::testing::Values(
        Neighbours{"one_feature_of_1e200", "+1 1:1e200 2:0.5 3:1"},
        Neighbours{"by_records", "+1 1:1e200 2:0.5 3:1", {"--adjacency", "record"}},
        Neighbours{"whose_loss_overflows", overflowing},
        Neighbours{"whose_loss_overflows_by_records", overflowing, {"--adjacency", "record"}},
        Neighbours{"in_secure_sums", overflowing, {"--secure-sum", "on"}},
        Neighbours{"with_noise_on_messages", overflowing, {"--mechanism", "zip-dl"}},
        Neighbours{"in_a_layered_model",
                   overflowing,
                   {"--task", "softmax", "--adjacency", "record", "--clip-norm", "1"}},
        Neighbours{"with_derivatives_for_the_gap", overflowing, {"--optimality-gap", "on"}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace sotto::test
