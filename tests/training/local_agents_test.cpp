#include "training/local_agents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <numeric>
#include <set>

#include "config/run_fixtures.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "tasks/task_fixtures.hpp"
#include "training/training_fixtures.hpp"
#include "trust/secret_coins.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::quadratic_config;
using test::TemporaryFolder;
using test::train;

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

TEST(Recorders, RecordsEveryKindOfRun) {
    const TemporaryFolder folder;
    const auto views = [&](const std::string& name, auto&& change) {
        TrainConfig config = quadratic_config(5, "ldp", 4);
        config.run_directory = folder.path(name);
        config.record_views = {1};
        config.record_wire = true;
        change(config);
        (void)train(config);
        return folder.path(name + "/views");
    };
    const auto view_of = [](const std::string& recorded) {
        return read_recorded_view(recorded + "/1/view.bin");
    };
    const std::string steps = views("steps", [](TrainConfig& c) {
        c.plan.mechanism = "muffliato";
        c.plan.gossip_steps = 3;
    });
    EXPECT_EQ(view_of(steps).header.gossip_steps, 3);
    EXPECT_EQ(view_of(steps).records.size(), 12U);
    EXPECT_EQ(WireReader(steps + "/wire/3/messages.bin").records(), 12U);
    EXPECT_EQ(WireReader(steps + "/wire/3/messages.bin").header().content, WireContent::messages);

    const std::string schedule = views("schedule", [](TrainConfig& c) {
        c.graph.topology.topology = Topology::exponential;
        c.graph.mixing_schedule = "one-peer";
    });
    const RecordedView changing = view_of(schedule);
    EXPECT_FALSE(changing.records[0].mixing_row == changing.records[1].mixing_row);

    for (const std::string mechanism : {"zip-dl", "homomorphic"}) {
        const std::string own =
            views(mechanism, [&](TrainConfig& c) { c.plan.mechanism = mechanism; });
        EXPECT_EQ(view_of(own).header.outputs, (std::vector<int>{0, 1, 2}));
        EXPECT_EQ(WireReader(own + "/wire/1/messages.bin").header().outputs,
                  (std::vector<int>{0, 2}));
    }

    const std::string sums = views("sums", [](TrainConfig& c) { c.secure_sum = true; });
    EXPECT_EQ(WireReader(sums + "/wire/0/messages.bin").header().content, WireContent::shares);
    const Json manifest = test::read_json(folder.path("sums/manifest.json"));
    EXPECT_EQ(manifest["recorded_wire"], true);
    expect_contains(test::read_json(folder.path("sums/ledger.json"))["statements"].dump(),
                    "The masked shares of all agents are recorded");
    expect_contains(test::read_json(folder.path("steps/ledger.json"))["statements"].dump(),
                    "The messages of all agents are recorded");

    // The wire alone: no gradients, no seeds, and no word of them.
    const std::string wire = views("wire", [](TrainConfig& c) { c.record_views = {}; });
    EXPECT_FALSE(std::filesystem::exists(wire + "/1"));
    EXPECT_EQ(test::read_json(folder.path("wire/ledger.json"))["statements"].dump().find("seeds"),
              std::string::npos);

    // A trusted mean: of agents only, and one exchange a round.
    const std::string mean = views("mean", [](TrainConfig& c) {
        c.plan.mechanism = "cdp";
        c.plan.gossip_steps = 2;
        c.record_wire = false;
    });
    EXPECT_EQ(view_of(mean).header.gossip_steps, 1);
    EXPECT_EQ(view_of(mean).records.size(), 4U);
    EXPECT_FALSE(std::filesystem::exists(mean + "/wire"));
}

TEST(Recorders, RecordsViewsAndUsesSecureSumsAsConfigured) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(5, "decor", 12);
    const auto models = [&](const std::string& name) {
        config.run_directory = folder.path(name);
        (void)train(config);
        std::vector<Eigen::MatrixXd> all;
        for (int u = 0; u < 5; ++u)
            all.push_back(
                read_npy(folder.path(name + "/agents/" + std::to_string(u) + "/model.npy")));
        return all;
    };
    const auto plain = models("plain");
    EXPECT_FALSE(std::filesystem::exists(folder.path("plain/views")));
    config.record_views = {1, 4};
    EXPECT_EQ(models("recorded") == plain, true);
    const RecordedView view = read_recorded_view(folder.path("recorded/views/4/view.bin"));
    EXPECT_EQ(view.records.size(), 12U);
    EXPECT_EQ(view.header.neighbours, (std::vector<int>{0, 3}));
    EXPECT_EQ(view.header.received, Received::messages);
    EXPECT_TRUE(std::filesystem::exists(folder.path("recorded/views/1/seeds.json")));

    config.secure_sum = true;
    const auto sums = models("sums");
    for (std::size_t u = 0; u < plain.size(); ++u) {
        EXPECT_FALSE(sums[u] == plain[u]);
        EXPECT_LT((sums[u] - plain[u]).cwiseAbs().maxCoeff(), 1e-9);
    }
    const RecordedView of_sums = read_recorded_view(folder.path("sums/views/1/view.bin"));
    EXPECT_EQ(of_sums.header.received, Received::sum);
    EXPECT_EQ(of_sums.records.front().received.cols(), 1);
    const Json manifest = test::read_json(folder.path("sums/manifest.json"));
    EXPECT_EQ(manifest["secure_sum"], true);
    EXPECT_EQ(manifest["recorded_views"], (std::vector<int>{1, 4}));
    expect_contains(manifest["link_encryption"], "one process");
    const std::string statements =
        test::read_json(folder.path("sums/ledger.json"))["statements"].dump();
    expect_contains(statements, "views of agents 1, 4 are recorded");
    expect_contains(statements, "learns only the weighted sum");
}

/// Joined by line ends.
std::string statements_of(const TrainConfig& config) {
    const auto network = make_memory_network(config.graph.topology.agents, 1);
    const auto lines = transport_statements(config, *network, NoisePlan{}, false);
    return std::accumulate(
        lines.begin(), lines.end(), std::string(), [](std::string all, const std::string& line) {
            return std::move(all) + line + "\n";
        });
}

TrainConfig star_of_six() {
    TrainConfig config = test::quadratic_config(6, "decor", 10);
    config.graph.topology.topology = Topology::star;
    return config;
}

TEST(TransportStatements, OfOneProcessSayThatItSeesEverything) {
    EXPECT_EQ(statements_of(star_of_six()),
              "All agents run in one process, which sees everything.\n");
}

TEST(TransportStatements, NameWhatIsRecorded) {
    TrainConfig config = star_of_six();
    config.record_views = {2, 4};
    config.record_wire = true;
    const std::string lines = statements_of(config);
    expect_contains(lines, "The views of agents 2, 4 are recorded");
    expect_contains(lines, "The messages of all agents are recorded");
    config.secure_sum = true;
    expect_contains(statements_of(config), "The masked shares of all agents are recorded");
}

TEST(TransportStatements, SayWhatRoundingLeavesOfTheNoise) {
    TrainConfig config = star_of_six();
    EXPECT_EQ(statements_of(config).find("rounded"), std::string::npos);
    config.precision = MessagePrecision::float32;
    const auto network = make_memory_network(6, 1);
    const NoisePlan plan = test::prepare(config, *network).run.plan;
    const auto lines = transport_statements(config, *network, plan, false);
    ASSERT_EQ(lines.size(), 2U);
    expect_contains(lines[1], "Messages are rounded to float32 after their noise");
    expect_contains(lines[1], "at most 6e-08 of itself");
    expect_contains(lines[1],
                    fmt::format("about {:.2g} may remain", 0x1p-24 * largest_deviation(plan)));
}

TEST(SameOptions, OfOneProcessAreTheSame) {
    const TrainConfig config = star_of_six();
    const auto network = make_memory_network(6, 1);
    EXPECT_NO_THROW(verify_same_options(*network, config));
}

}  // namespace
}  // namespace sotto
