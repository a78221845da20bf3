// What corrections are for, on real data.

#include <cstdlib>

#include "program.hpp"

namespace sotto::test {
namespace {

/// Accuracy of the agents' own models on MNIST, of which every agent has one label; on a ring
/// of 20.
double own_accuracy(const std::string& correction) {
    const TempDir directory;
    const std::string data = std::getenv("SOTTO_DATA_DIR");
    const Outcome outcome = run_sotto(directory,
                                      one_process,
                                      {"train",
                                       "--task",
                                       "softmax",
                                       "--data",
                                       data + "/train-images-idx3-ubyte.gz",
                                       "--test-data",
                                       data + "/t10k-images-idx3-ubyte.gz",
                                       "--partition",
                                       "by-label:1",
                                       "--topology",
                                       "ring",
                                       "--agents",
                                       "20",
                                       "--rounds",
                                       "300",
                                       "--batch-size",
                                       "64",
                                       "--clip-norm",
                                       "1",
                                       "--step-size",
                                       "1",
                                       "--adjacency",
                                       "record-add-remove",
                                       "--participation",
                                       "poisson",
                                       "--epsilon",
                                       "8",
                                       "--noise-seed",
                                       "1",
                                       "--final-gossip",
                                       "0",
                                       "--eval-every",
                                       "300",
                                       "--correction",
                                       correction,
                                       "--quiet",
                                       "--json",
                                       "out.json",
                                       "--run-directory",
                                       "run"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    return outcome.exit_code == 0
               ? json_of(directory / "out.json").at("test_accuracy").get<double>()
               : 0;
}

TEST(Corrections, OfAgentsWithOneLabelEachMakeTheirOwnModelsBetter) {
    const char* data = std::getenv("SOTTO_DATA_DIR");
    if (data == nullptr || *data == '\0')
        GTEST_SKIP() << "set SOTTO_DATA_DIR to a folder with MNIST";
    EXPECT_GT(own_accuracy("exact-diffusion"), own_accuracy("none") + 0.1);
}

TEST(Corrections, ThatCannotBeCombinedAreRefusedBeforeAnythingIsDone) {
    const TempDir directory;
    for (const Arguments& with : {Arguments{"--secure-sum", "on", "--topology", "complete"},
                                  Arguments{"--mechanism", "cdp"},
                                  Arguments{"--mechanism", "zip-dl"},
                                  Arguments{"--mixing", "row-stochastic", "--directed"},
                                  Arguments{"--mixing", "optimised"},
                                  Arguments{"--mixing-schedule", "random"}}) {
        Arguments arguments{"plan", "--agents", "6", "--correction", "exact-diffusion"};
        arguments.insert(arguments.end(), with.begin(), with.end());
        const Outcome outcome = run_sotto(directory, one_process, arguments);
        EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
        EXPECT_NE(outcome.err.find("correction: exact-diffusion is not possible"),
                  std::string::npos)
            << outcome.text();
    }
}

}  // namespace
}  // namespace sotto::test
