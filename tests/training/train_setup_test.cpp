#include "training/train_setup.hpp"

#include "config/run_fixtures.hpp"
#include "options/general_options.hpp"
#include "options/train_options.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

TrainSetup read(const std::vector<std::string>& arguments, bool alone = true) {
    const auto network = make_memory_network(1, 1);
    return read_train_setup(*network, arguments, alone, with_general(train_option_set().written()));
}

TEST(TrainSetup, IsWhatWasAskedFor) {
    const TrainSetup setup = read({"--agents", "5", "--rounds", "7", "--quiet"});
    EXPECT_EQ(setup.config.graph.topology.agents, 5);
    EXPECT_EQ(setup.config.plan.rounds, 7);
    EXPECT_TRUE(setup.general.quiet);
    EXPECT_FALSE(setup.config.resume);
    EXPECT_EQ(agents_alone(setup.config), 5);
}

TEST(TrainSetup, GivesEveryRankAnAgent) {
    EXPECT_EQ(read({"--rounds", "7"}, false).config.graph.topology.agents, 1);
    EXPECT_EQ(read({"--rounds", "7"}, false).config.threads, 1);
}

TEST(TrainSetup, OfARunThatIsTakenUpHasItsOptions) {
    const test::TemporaryFolder folder;
    expect_contains(message_of<ConfigError>([&] {
                        (void)read({"--resume", folder.path("none")});
                    }),
                    "none");
    expect_contains(message_of<ConfigError>([&] {
                        (void)read({"--resume", folder.path("none"), "--epsilon", "3"});
                    }),
                    "cannot be given with --resume");
}

}  // namespace
}  // namespace sotto
