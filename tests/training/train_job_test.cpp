#include "training/train_job.hpp"

#include "config/run_fixtures.hpp"
#include "sotto/net/memory_network.hpp"

namespace sotto {
namespace {

class TrainJob : public ::testing::Test {
  protected:
    [[nodiscard]] TrainConfig config() const {
        TrainConfig result = test::quadratic_config(4, "decor", 5);
        result.graph.topology.topology = Topology::complete;
        result.run_directory = folder_.path("run");
        return result;
    }
    [[nodiscard]] int train(const TrainConfig& config) const {
        const auto network = make_memory_network(4, 1);
        GeneralOptions quiet;
        quiet.quiet = true;
        return train_on(*network, quiet, config);
    }
    [[nodiscard]] test::Json ledger() const {
        return test::read_json(std::filesystem::path(folder_.path("run")) / "ledger.json");
    }
    test::TemporaryFolder folder_;
};

TEST_F(TrainJob, IsOfAllAgents) {
    EXPECT_EQ(train(config()), 0);
    EXPECT_EQ(ledger().at("phases")[0].at("agents_gone"), test::Json::array());
}

TEST_F(TrainJob, LetsSparesWait) {
    TrainConfig waiting = config();
    waiting.spares = {1, 3};
    EXPECT_EQ(train(waiting), 0);
    EXPECT_EQ(ledger().at("phases")[0].at("agents_gone"), (test::Json{1, 3}));
}

TEST_F(TrainJob, GoesOnWithSparesThatAreAskedBeforeTheFirstRound) {
    TrainConfig waiting = config();
    waiting.plan.rounds = 100'000;
    waiting.spares = {1, 3};
    waiting.join_file = folder_.path("join%r");
    (void)folder_.write("join1", "");
    (void)folder_.write("join3", "");
    EXPECT_EQ(train(waiting), 0);
    const test::Json phases = ledger().at("phases");
    ASSERT_EQ(phases.size(), 2U);
    EXPECT_EQ(phases[1].at("agents_gone"), test::Json::array());
}

TEST_F(TrainJob, RefusesSparesThatDoNotExist) {
    TrainConfig wrong = config();
    wrong.spares = {4};
    EXPECT_THROW((void)train(wrong), ConfigError);
}

}  // namespace
}  // namespace sotto
