#include "options/network_option.hpp"

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

TEST(NetworkSpec, IsALatencyAndABandwidthAndMayNameHostsAndRanks) {
    EXPECT_EQ(parse_network("network", "10ms:100Mbit"),
              (NetworkSpec{0.01, 1e8, std::nullopt, std::nullopt}));
    EXPECT_EQ(parse_network("network", "50us:2.5Gbit:100:10000"),
              (NetworkSpec{5e-5, 2.5e9, 100, 10000}));
    EXPECT_EQ(parse_network("network", "0s:8kbit:2"), (NetworkSpec{0, 8e3, 2, std::nullopt}));
}

TEST(NetworkSpec, IsWrittenAsItIsRead) {
    for (const char* text : {"10ms:100Mbit", "50us:25Gbit:100:10000", "1s:1bit:3"}) {
        const NetworkSpec spec = parse_network("network", text);
        EXPECT_EQ(parse_network("network", name_of(spec)), spec) << name_of(spec);
    }
}

TEST(NetworkSpec, RefusesWhatIsNone) {
    for (const char* text : {"",
                             "10ms",
                             "10:100Mbit",
                             "10ms:100",
                             "ms:1bit",
                             "-1ms:1bit",
                             "1ms:0bit",
                             "1ms:1bit:0",
                             "1ms:1bit:2:x",
                             "1ms:1bit:2:3:4",
                             "nanms:1bit",
                             "2h:1bit",
                             "4000s:1bit"})
        test::expect_contains(
            test::message_of<ConfigError>([&] { (void)parse_network("network", text); }),
            "network");
}

}  // namespace
}  // namespace sotto
