#include "training/rank_figures.hpp"

#include "config/run_fixtures.hpp"
#include "sotto/core/host.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

RankFigures sample_figures() {
    return {"host-\xff", {2, 5}, RoundSeconds{1, 2, 3, 4}, 9000000000, 12.5};
}

TEST(RankFigures, SurviveTheWayToOtherRanks) {
    const RankFigures back = rank_figures_from_bytes(to_bytes(sample_figures()), 1);
    EXPECT_EQ(back.host, sample_figures().host);
    EXPECT_EQ(back.agents, sample_figures().agents);
    EXPECT_EQ(back.seconds->gradient, 1);
    EXPECT_EQ(back.seconds->noise, 2);
    EXPECT_EQ(back.seconds->exchange, 3);
    EXPECT_EQ(back.seconds->mix, 4);
    EXPECT_EQ(back.bytes_sent, 9000000000);
    EXPECT_EQ(back.peak_memory_mib, 12.5);
}

TEST(RankFigures, ThatAreNoneAreRefusedNamingTheRank) {
    const std::string good = to_bytes(sample_figures());
    RankFigures endless = sample_figures(), negative = sample_figures(), heavy = sample_figures();
    endless.seconds->mix = infinity;
    negative.bytes_sent = -1;
    heavy.peak_memory_mib = not_a_number;
    for (const std::string& bad : {std::string(),
                                   good.substr(0, good.size() - 1),
                                   good + "x",
                                   to_bytes(endless),
                                   to_bytes(negative),
                                   to_bytes(heavy)})
        expect_contains(message_of<NetworkError>([&] { (void)rank_figures_from_bytes(bad, 7); }),
                        "rank 7");
}

TEST(RankFigures, LeaveOutTimesThatTellHowLargeSecretBatchesAre) {
    TrainConfig config;
    const RoundSeconds spent{1, 2, 3, 4};
    EXPECT_TRUE(seconds_to_tell(spent, config, 5));
    config.plan.participation.poisson = true;
    EXPECT_FALSE(seconds_to_tell(spent, config, 5));
    EXPECT_TRUE(seconds_to_tell(spent, config, 1));
    RankFigures untold = sample_figures();
    untold.seconds.reset();
    EXPECT_FALSE(rank_figures_from_bytes(to_bytes(untold), 1).seconds);
    EXPECT_FALSE(gather_figures(*make_memory_network(2, 1), untold).phases);
    config.pad_rounds = true;
    EXPECT_TRUE(seconds_to_tell(spent, config, 5));
}

TEST(RankFigures, LeaveOutMemoryThatTellsHowLargeSecretBatchesAre) {
    TrainConfig config;
    EXPECT_EQ(memory_to_tell(12.5, config, 5), 12.5);
    config.plan.participation.poisson = true;
    EXPECT_FALSE(memory_to_tell(12.5, config, 5));
    EXPECT_EQ(memory_to_tell(12.5, config, 1), 12.5) << "nobody else is there";
    config.pad_rounds = true;
    EXPECT_FALSE(memory_to_tell(12.5, config, 5)) << "rounds are as long, and not as large";
    RankFigures untold = sample_figures();
    untold.peak_memory_mib.reset();
    EXPECT_FALSE(rank_figures_from_bytes(to_bytes(untold), 1).peak_memory_mib);
    RankFigures lighter = untold;
    lighter.peak_memory_mib = 0;
    EXPECT_EQ(to_bytes(untold).size(), to_bytes(lighter).size());
    EXPECT_FALSE(gather_figures(*make_memory_network(2, 1), untold).peak_memory_mib);
}

TEST(JobFigures, AreThoseOfItsOnlyProcess) {
    const auto network = make_memory_network(2, 1);
    const Membership members{6, {1, 4}};
    const RankFigures own = own_figures(*network, members, RoundSeconds{1, 2, 3, 4}, {});
    EXPECT_EQ(own.host, local_host_name());
    EXPECT_EQ(own.agents, members.numbers);
    EXPECT_GT(own.peak_memory_mib.value(), 0);
    const JobFigures job = gather_figures(*network, own);
    ASSERT_EQ(job.ranks.size(), 1U);
    EXPECT_EQ(to_bytes(job.ranks[0]), to_bytes(own));
    EXPECT_EQ(job.phases->total(), 10);
    EXPECT_EQ(job.bytes_sent, own.bytes_sent);
    EXPECT_EQ(job.peak_memory_mib, own.peak_memory_mib);
}

}  // namespace
}  // namespace sotto
