// Agents that know their own neighbours only.

#include <fmt/format.h>

#include "program.hpp"

namespace sotto::test {
namespace {

constexpr int agents = 5;

class Neighbours : public ::testing::Test {
  protected:
    Neighbours() {
        for (int u = 0; u < agents; ++u)
            directory_.write(fmt::format("near{}", u),
                             fmt::format("{}\n{}\n", (u + 1) % agents, (u + agents - 1) % agents));
    }
    Arguments train(const std::string& run, const Arguments& more) const {
        Arguments arguments{"train",
                            "--data",
                            data_,
                            "--rounds",
                            "8",
                            "--batch-size",
                            "5",
                            "--quiet",
                            "--noise-seed",
                            "7",
                            "--agents",
                            std::to_string(agents),
                            "--mechanism",
                            "decor",
                            "--run-directory",
                            run};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }
    [[nodiscard]] std::string model_of(const std::string& run) const {
        return content_of(directory_.path() / run / "agents/3/model.npy");
    }

    TempDir directory_;
    std::string data_ = directory_.write("data.svm", small_data(60));
};

TEST_F(Neighbours, MakeTheGraphThatAllOfThemKnowInPart) {
    ASSERT_EQ(run_sotto(directory_,
                        agents,
                        train("whole", {"--topology", "ring", "--bootstrap", "distributed"}))
                  .exit_code,
              0);
    for (const int ranks : {agents, 2, one_process}) {
        const std::string run = fmt::format("parts-{}", ranks);
        const Outcome outcome =
            run_sotto(directory_, ranks, train(run, {"--neighbours", "near%r"}));
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
        EXPECT_EQ(model_of(run), model_of("whole")) << ranks;
        EXPECT_EQ(lines_of(content_of(directory_ / (run + "/graph.edges"))).size(), 6U);
        EXPECT_EQ(json_of(directory_ / (run + "/ledger.json")).at("headline"),
                  json_of(directory_ / "whole/ledger.json").at("headline"));
    }
    // Whoever looks at the run later has the graph.
    std::filesystem::rename(directory_ / "parts-5", directory_ / "moved");
    const Outcome report = run_sotto(directory_, one_process, {"report", "moved", "--quiet"});
    EXPECT_EQ(report.exit_code, 0) << report.text();
}

TEST_F(Neighbours, WhoContradictEachOtherAreNamed) {
    directory_.write("near2", "1\n");
    const Outcome outcome = run_sotto(directory_, agents, train("run", {"--neighbours", "near%r"}));
    EXPECT_EQ(outcome.exit_code, 3) << outcome.text();
    ASSERT_EQ(error_lines(outcome.err).size(), 1U) << outcome.text();
    EXPECT_NE(outcome.err.find("agent 3 names agent 2, which does not name it"), std::string::npos);
}

TEST_F(Neighbours, AreAskedOfAllRanksOrOfNone) {
    Process process(disagreeing_command({"train", "--agents", "3", "--neighbours", "near%r"},
                                        {"train", "--agents", "3"}),
                    directory_.path());
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
    EXPECT_NE(outcome.err.find("--neighbours on all ranks, or on none"), std::string::npos)
        << outcome.text();
}

TEST_F(Neighbours, AreNotDirected) {
    expect_refused(directory_,
                   train("run", {"--neighbours", "near%r", "--directed"}),
                   2,
                   "neighbours: not possible with --directed");
}

}  // namespace
}  // namespace sotto::test
