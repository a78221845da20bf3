#include "program.hpp"

namespace sotto::test {
namespace {

constexpr int agents = 3;

/// model.npy of every agent, one after the other.
std::vector<std::string> models_of(const TempDir& directory, const std::string& run) {
    std::vector<std::string> models;
    for (int u = 0; u < agents; ++u)
        models.push_back(
            content_of(directory.path() / run / "agents" / std::to_string(u) / "model.npy"));
    return models;
}

class ReproducibleRuns : public testing::Test {
  protected:
    /// Trains three agents on the small data set into the folder `run`.
    void train(int ranks, const std::string& run, const Arguments& more) {
        Arguments arguments{"train",
                            "--data",
                            data_,
                            "--rounds",
                            "40",
                            "--batch-size",
                            "5",
                            "--quiet",
                            "--run-directory",
                            run};
        if (ranks == one_process) {
            arguments.emplace_back("--agents");
            arguments.push_back(std::to_string(agents));
        }
        arguments.insert(arguments.end(), more.begin(), more.end());
        finish(ranks, run, arguments);
    }
    /// Starts the run `from` again, into the folder `run`.
    void train_again(int ranks, const std::string& from, const std::string& run) {
        finish(ranks,
               run,
               {"train", "--config", from + "/config.ini", "--quiet", "--run-directory", run});
    }
    nlohmann::json ledger(const std::string& run) {
        return json_of(directory_ / (run + "/ledger.json"));
    }

    TempDir directory_;
    std::string data_ = directory_.write("data.svm", small_data(60));

  private:
    void finish(int ranks, const std::string& run, const Arguments& arguments) {
        const Outcome outcome = run_sotto(directory_, ranks, arguments);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
        for (const auto& model : models_of(directory_, run))
            ASSERT_GT(model.size(), 128U) << run << " left no model";
    }
};

TEST_F(ReproducibleRuns, StartAgainFromTheirConfigWithTheSameBits) {
    train(one_process, "first", {"--noise-seed", "7", "--mechanism", "decor", "--l2", "0.001"});
    train_again(one_process, "first", "second");
    EXPECT_EQ(models_of(directory_, "first"), models_of(directory_, "second"));
    EXPECT_EQ(content_of(directory_ / "first/config.ini"),
              content_of(directory_ / "second/config.ini"));
}

TEST_F(ReproducibleRuns, OverMpiEqualTheOneProcessRunBitForBit) {
    train(one_process, "alone", {"--noise-seed", "7"});
    train(agents, "mpi", {"--noise-seed", "7"});
    train_again(agents, "mpi", "mpi_again");
    train_again(agents, "alone", "alone_again_over_mpi");
    const auto alone = models_of(directory_, "alone");
    EXPECT_EQ(alone, models_of(directory_, "mpi"));
    EXPECT_EQ(alone, models_of(directory_, "mpi_again"));
    EXPECT_EQ(alone, models_of(directory_, "alone_again_over_mpi"));
}

TEST_F(ReproducibleRuns, WithOneNoiseSeedAreMarkedInsecure) {
    train(one_process, "seeded", {"--noise-seed", "7"});
    const auto ledger = this->ledger("seeded");
    EXPECT_EQ(ledger.at("noise").at("insecure"), true);
    EXPECT_NE(ledger.at("noise").at("keys").get<std::string>().find("seed"), std::string::npos);
    bool said = false;
    for (const auto& statement : ledger.at("statements"))
        said = said || statement.get<std::string>().starts_with("INSECURE");
    EXPECT_TRUE(said) << ledger.at("statements");
}

TEST_F(ReproducibleRuns, WithoutANoiseSeedNeverRepeatTheirNoise) {
    train(one_process, "first", {"--seed", "3"});
    train(one_process, "second", {"--seed", "3"});
    EXPECT_EQ(ledger("first").at("noise").at("insecure"), false);
    const auto first = models_of(directory_, "first"), second = models_of(directory_, "second");
    for (std::size_t u = 0; u < agents; ++u) EXPECT_NE(first[u], second[u]) << "agent " << u;
    train_again(one_process, "first", "again");
    EXPECT_NE(first, models_of(directory_, "again"));
}

TEST_F(ReproducibleRuns, TakeNoiseFromTheNoiseSeedAlone) {
    train(one_process, "seven", {"--noise-seed", "7"});
    train(one_process, "eight", {"--noise-seed", "8"});
    EXPECT_NE(models_of(directory_, "seven"), models_of(directory_, "eight"));
}

TEST_F(ReproducibleRuns, TakePartitionAndBatchesFromTheSeedAlone) {
    // Without noise only data, partition, batches and initialisation are left.
    const Arguments noiseless{"--mechanism", "none", "--seed", "3"};
    train(one_process, "first", noiseless);
    train(one_process, "second", noiseless);
    train(agents, "mpi", noiseless);
    const auto first = models_of(directory_, "first");
    EXPECT_EQ(first, models_of(directory_, "second"));
    EXPECT_EQ(first, models_of(directory_, "mpi"));
    train(one_process, "other_seed", {"--mechanism", "none", "--seed", "4"});
    EXPECT_NE(first, models_of(directory_, "other_seed"));
}

TEST_F(ReproducibleRuns, AreTheSameWithAnyNumberOfThreads) {
    train(one_process, "one", {"--noise-seed", "7", "--threads", "1"});
    train(one_process, "three", {"--noise-seed", "7", "--threads", "3"});
    EXPECT_EQ(models_of(directory_, "one"), models_of(directory_, "three"));
}

}  // namespace
}  // namespace sotto::test
