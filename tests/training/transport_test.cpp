#include "training/transport.hpp"

#include <fmt/format.h>

#include <numeric>

#include "config/run_fixtures.hpp"
#include "sotto/plan/noise_grid.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;

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
                    fmt::format("about {:.2g} may stay", 0x1p-24 * largest_deviation(plan)));
}

TEST(SameOptions, OfOneProcessAreTheSame) {
    const TrainConfig config = star_of_six();
    const auto network = make_memory_network(6, 1);
    EXPECT_NO_THROW(verify_same_options(*network, config));
}

}  // namespace
}  // namespace sotto
