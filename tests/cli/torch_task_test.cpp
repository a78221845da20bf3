// TorchScript models as tasks, as a user starts them.

#include <cstdlib>
#include <filesystem>
#include <map>

#include "program.hpp"

namespace sotto::test {
namespace {

std::string model(const std::string& name) {
    return std::string(SOTTO_TORCH_MODELS) + "/" + name + ".pt";
}

using Options = std::map<std::string, std::string>;

class TorchTask : public ::testing::Test {
  protected:
    void SetUp() override {
#ifndef SOTTO_HAVE_TORCH
        GTEST_SKIP() << "libtorch is not here (deploy/install torch)";
#endif
    }

    /// Six features, three classes.
    [[nodiscard]] static std::string records() {
        std::string text;
        for (int i = 0; i < 120; ++i)
            text += std::to_string(i % 3) + " " + std::to_string(i % 3 + 1) + ":1 " +
                    std::to_string(i % 2 + 5) + ":0.5\n";
        return text;
    }
    /// A short training of the small data, with other values of some options.
    [[nodiscard]] Arguments training(const std::string& task, const Options& other = {}) const {
        Options options{{"data", data_},
                        {"rounds", "200"},
                        {"adjacency", "record"},
                        {"batch-size", "5"},
                        {"mechanism", "none"},
                        {"step-size", "0.5"},
                        {"run-directory", "run"},
                        {"json", "summary.json"},
                        {"task", task}};
        for (const auto& [name, value] : other) options[name] = value;
        Arguments arguments{"train", "--quiet"};
        for (const auto& [name, value] : options) {
            arguments.push_back("--" + name);
            arguments.push_back(value);
        }
        return arguments;
    }

    TempDir directory_;
    std::string data_ = directory_.write("data.svm", records());
};

TEST_F(TorchTask, TrainsFromTheParametersOfTheFileAndNamesItInTheLedger) {
    const Outcome outcome =
        run_sotto(directory_, one_process, training(model("mlp"), {{"agents", "3"}}));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_GT(json_of(directory_ / "summary.json").at("test_accuracy").get<double>(), 0.5);
    EXPECT_NE(content_of(directory_ / "run/ledger.json").find("a TorchScript module of the user's"),
              std::string::npos);
    EXPECT_EQ(json_of(directory_ / "run/data.json").at("files").at(1).at("option"), "task");
}

TEST_F(TorchTask, RefusesBatchNormInOneLine) {
    expect_refused(
        directory_, training(model("batch_norm"), {{"agents", "3"}}), 2, "take GroupNorm instead");
    expect_refused(directory_, training(data_ + ".pt", {{"agents", "3"}}), 2, "is not there");
    directory_.write("text.pt", "no module");
    expect_refused(
        directory_, training("text.pt", {{"agents", "3"}}), 2, "is no TorchScript module");
}

TEST_F(TorchTask, GivesTheSameBitsInOneProcessAndOverRanks) {
    const Options noise{{"mechanism", "ldp"}, {"noise-seed", "3"}, {"epsilon", "50"}};
    Options alone = noise, ranks = noise;
    alone.insert({{"agents", "3"}, {"run-directory", "alone"}});
    ranks.insert({{"run-directory", "ranks"}});
    const Outcome one = run_sotto(directory_, one_process, training(model("mlp"), alone));
    const Outcome three = run_sotto(directory_, 3, training(model("mlp"), ranks));
    ASSERT_EQ(one.exit_code, 0) << one.text();
    ASSERT_EQ(three.exit_code, 0) << three.text();
    for (const char* agent : {"0", "1", "2"})
        EXPECT_EQ(content_of(directory_ / ("alone/agents/" + std::string(agent) + "/model.npy")),
                  content_of(directory_ / ("ranks/agents/" + std::string(agent) + "/model.npy")));
}

TEST_F(TorchTask, RefusesAnotherFileOnSomeRanks) {
    std::filesystem::create_directory(directory_ / "other");
    std::filesystem::copy_file(model("mlp"), directory_ / "model.pt");
    std::filesystem::copy_file(model("mlp_float64"), directory_ / "other/model.pt");
    const Outcome outcome =
        Process(disagreeing_command(training("model.pt"),
                                    training("model.pt"),
                                    {"sh", "-c", "cd other && exec \"$@\"", "sh"}),
                directory_.path())
            .wait();
    EXPECT_EQ(outcome.exit_code, 3) << outcome.text();
    EXPECT_NE(outcome.err.find("task: model.pt is another file on rank 1"), std::string::npos)
        << outcome.text();
}

TEST_F(TorchTask, ReachesTheAccuracyOfTheSameBuiltInModelOnMnistOverThreeRanks) {
    const char* folder = std::getenv("SOTTO_DATA_DIR");
    if (folder == nullptr) GTEST_SKIP() << "SOTTO_DATA_DIR is not set";
    const std::string data = std::string(folder) + "/train-images-idx3-ubyte.gz";
    if (!std::filesystem::exists(data)) GTEST_SKIP() << data << " is not there";
    const auto accuracy = [&](const std::string& task, Options options) {
        options.insert({{"data", data},
                        {"test-data", std::string(folder) + "/t10k-images-idx3-ubyte.gz"},
                        {"rounds", "60"},
                        {"batch-size", "50"},
                        {"clip-norm", "1"},
                        {"mechanism", "pairs"},
                        {"epsilon", "20"},
                        {"noise-seed", "1"},
                        {"eval-every", "60"}});
        const Outcome outcome = run_sotto(directory_, 3, training(task, options));
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
        return json_of(directory_ / "summary.json").at("test_accuracy").get<double>();
    };
    const double built_in = accuracy("mlp", {{"hidden", "16"}, {"run-directory", "built-in"}});
    const double torch = accuracy(model("mnist_mlp"), {});
    // They start from other weights: after so few rounds seeds alone differ by 0.04.
    EXPECT_GT(built_in, 0.4);
    EXPECT_NEAR(torch, built_in, 0.1);
}

}  // namespace
}  // namespace sotto::test
