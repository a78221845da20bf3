#include "training/local_agents.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <set>

#include "sotto/trust/secret_coins.hpp"
#include "tasks/task_fixtures.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

/// Agents 1 and 4 of six.
class LocalAgents : public ::testing::Test {
  protected:
    std::vector<LocalAgent> agents(bool rows_are_rounds = false) {
        PreparedRun prepared = test::prepare(config, *network);
        prepared.run.members = {6, {1, 4}};
        return build_agents(
            prepared.run, test::build(config.task, 2).objectives, rows_are_rounds, exposures);
    }
    std::set<Eigen::Index> rows(LocalAgent& agent, long rounds) const {
        std::set<Eigen::Index> seen;
        for (long round = 0; round < rounds; ++round)
            for (const Eigen::Index row : agent.batches.rows(static_cast<std::uint64_t>(round)))
                seen.insert(row);
        return seen;
    }
    test::TemporaryFolder folder;
    TrainConfig config = test::logistic_config(folder, 2, "ldp", 30);
    std::unique_ptr<Network> network = make_memory_network(2, 1);
    std::vector<Exposure> exposures = [] {
        std::vector<Exposure> both(2);
        both[0].batch_size = 8;
        both[1].batch_size = 5;
        return both;
    }();
};

TEST_F(LocalAgents, HavePlacesNumbersAndDivisors) {
    const auto local = agents();
    ASSERT_EQ(local.size(), 2U);
    EXPECT_EQ(local[0].id, 0);
    EXPECT_EQ(local[0].number, 1);
    EXPECT_EQ(local[0].batch_size, 8);
    EXPECT_EQ(local[1].id, 1);
    EXPECT_EQ(local[1].number, 4);
    EXPECT_EQ(local[1].batch_size, 5);
}

TEST(ReproducibleCoins, AreOfTheSeedTheKeyEpochAndTheNumber) {
    const SecretKey coins = reproducible_coins(3, 1, 2);
    EXPECT_TRUE(coins == reproducible_coins(3, 1, 2));
    EXPECT_FALSE(coins == reproducible_coins(4, 1, 2));
    EXPECT_FALSE(coins == reproducible_coins(3, 0, 2));
    EXPECT_FALSE(coins == reproducible_coins(3, 1, 1));
}

TEST(BatchesOfAClient, AreThoseOfARoundOrNoneAsItsCoinSays) {
    constexpr double q = 0.25;
    constexpr long rounds = 2000;
    const SecretKey key = reproducible_coins(5, 0, 1);
    const SecretCoins coins(key.clone(), q);
    BatchSampler plain = BatchSampler::uniform(30, 4, 2, 1);
    BatchSampler batches = batches_of_client(30, plain, q, key.clone(), 3);
    EXPECT_EQ(batches.largest_batch(), 30);
    long there = 0;
    std::vector<Eigen::Index> heads;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        coins.draw(round, 1, heads);
        there += heads.empty() ? 0 : 1;
        for (std::uint64_t batch = 3 * round; batch < 3 * round + 3; ++batch) {
            const auto of_round = plain.rows(batch);
            std::vector<Eigen::Index> expected(of_round.begin(), of_round.end());
            std::ranges::sort(expected);
            if (heads.empty()) expected.clear();
            EXPECT_TRUE(std::ranges::equal(batches.rows(batch), expected)) << batch;
        }
    }
    EXPECT_NEAR(static_cast<double>(there), rounds * q, 5 * std::sqrt(rounds * q * (1 - q)));
}

TEST_F(LocalAgents, DrawBatchesOfTheirSizeByTheirNumber) {
    auto local = agents();
    for (LocalAgent& agent : local) {
        const auto batch = agent.batches.rows(3);
        EXPECT_EQ(std::ssize(batch), agent.batch_size);
        BatchSampler wanted = BatchSampler::uniform(
            agent.objective->records(), agent.batch_size, config.task.seed, agent.number);
        EXPECT_TRUE(std::ranges::equal(batch, wanted.rows(3)));
    }
}

TEST_F(LocalAgents, UseAllTheyHaveWhereThatIsLess) {
    exposures[0].batch_size = 1000000;
    auto local = agents();
    EXPECT_EQ(std::ssize(local[0].batches.rows(0)), local[0].objective->records());
    EXPECT_EQ(local[0].batch_size, 1000000);
}

TEST_F(LocalAgents, UseEveryRecordOnceACycle) {
    config.plan.adjacency = Adjacency::record;
    config.plan.participation = {4};
    auto local = agents();
    for (LocalAgent& agent : local)
        EXPECT_EQ(std::ssize(rows(agent, 4)), agent.objective->records());
}

TEST_F(LocalAgents, TakeRowTInRoundTWhereRowsAreRounds) {
    auto local = agents(true);
    for (const std::uint64_t round : {0U, 1U, 7U}) {
        const auto row = local[0].batches.rows(round);
        ASSERT_EQ(row.size(), 1U);
        EXPECT_EQ(row[0], static_cast<Eigen::Index>(round));
    }
}

TEST_F(LocalAgents, PadBatchesToWhatTheyNearlyNeverExceed) {
    config.pad_rounds = true;
    config.plan.adjacency = Adjacency::record_add_remove;
    config.plan.participation = {.cycle = 1, .poisson = true};
    exposures[0].sampling_probability = 0.25;
    exposures[1].sampling_probability = 1;
    const auto local = agents();
    const Eigen::Index all = local[0].objective->records();
    EXPECT_GT(local[0].padding.least(), all / 4);
    EXPECT_LT(local[0].padding.least(), all);
    EXPECT_EQ(local[1].padding.least(), local[1].objective->records());
    for (const Eigen::Index records : {100, 3000, 60000})
        for (const double probability : {0.001, 0.0427, 0.5}) {
            const Eigen::Index most = padded_batch(records, probability);
            const boost::math::binomial_distribution<double> drawn(static_cast<double>(records),
                                                                   probability);
            const auto beyond = [&](Eigen::Index size) {
                return boost::math::cdf(boost::math::complement(drawn, static_cast<double>(size)));
            };
            EXPECT_LE(beyond(most), 0x1p-40) << records << ", " << probability;
            EXPECT_GT(beyond(most - 2), 0x1p-40) << records << ", " << probability;
        }
}

}  // namespace
}  // namespace sotto
