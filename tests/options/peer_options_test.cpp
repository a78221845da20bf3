#include "options/peer_options.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "options/option_set.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

OptionSet<TrainConfig> peer_option_set() { return OptionSet<TrainConfig>().add(peer_options()); }

TEST(TrustFiles, AreReadOneByOne) {
    const TrainConfig config = peer_option_set().read({{"roster", "agents.roster"}});
    ASSERT_TRUE(config.trust);
    EXPECT_EQ(config.trust->roster, "agents.roster");
    EXPECT_EQ(find_option(peer_option_set().written(config), "roster")->text, "agents.roster");
    EXPECT_EQ(find_option(peer_option_set().written(config), "identity")->text, std::nullopt);
    EXPECT_EQ(find_option(peer_option_set().written(), "roster")->text, std::nullopt);
    EXPECT_FALSE(peer_option_set().read({}).trust);
}

TEST(Threads, AreAskedForAndNotYetGranted) {
    const TrainConfig config = peer_option_set().read({{"threads", "3"}});
    EXPECT_EQ(config.asked_threads, 3);
    EXPECT_EQ(find_option(peer_option_set().written(), "threads")->text, "0");
    expect_contains(message_of<ConfigError>([] {
                        (void)peer_option_set().read({{"threads", "4294967297"}});
                    }),
                    "--threads");
}

TEST(BootstrapAndLinks, AreWords) {
    const TrainConfig config =
        peer_option_set().read({{"bootstrap", "distributed"}, {"link-encryption", "off"}});
    EXPECT_EQ(config.bootstrap, Bootstrap::distributed);
    EXPECT_FALSE(config.link_encryption);
    expect_contains(message_of<ConfigError>([] {
                        (void)peer_option_set().read({{"bootstrap", "centrl"}});
                    }),
                    "did you mean 'central'");
}

TEST(NoiseSeed, KeepsAll63Bits) {
    const TrainConfig config = peer_option_set().read({{"noise-seed", "9223372036854775807"}});
    EXPECT_EQ(config.noise_seed, 9223372036854775807U);
    EXPECT_EQ(find_option(peer_option_set().written(config), "noise-seed")->text,
              "9223372036854775807");
}

}  // namespace
}  // namespace sotto
