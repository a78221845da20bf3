#include "training/manifest.hpp"

#include "agent/bootstrap.hpp"
#include "config/run_fixtures.hpp"
#include "core/host.hpp"
#include "core/numbers.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;

class Manifest : public ::testing::Test {
  protected:
    std::unique_ptr<Network> network = make_memory_network(4, 1);
    PreparedRun prepared = test::prepare(test::quadratic_config(4, "decor", 10), *network);
    const sotto::Run& run = prepared.run;
    std::vector<KeyRing> rings = distribute_seeds(*network, run.plan, 17);
};

TEST_F(Manifest, CommitsToEverySeedOfThePlan) {
    const ProcessNote note = process_note(*network, rings);
    EXPECT_EQ(note.network, network->description());
    const Json json = Json::parse(manifest_json(run, {to_json(note)}));
    std::size_t seeds = 0;
    for (const KeyRing& ring : rings)
        for (const int group : ring.groups()) {
            Hasher hasher("sotto.seed-commitment.v1");
            hasher.add_bytes(ring.seed(group).bytes());
            EXPECT_EQ(json["seed_commitments"][seeds],
                      (Json{{"agent", ring.agent()},
                            {"group", group},
                            {"blake2b", to_hex(hasher.finish())}}));
            ++seeds;
        }
    EXPECT_EQ(json["seed_commitments"].size(), seeds);
    EXPECT_GT(seeds, 4U);
}

TEST_F(Manifest, SaysWhatEverybodyHasAgreedOn) {
    const Json json = Json::parse(manifest_json(run, {to_json(process_note(*network, rings))}));
    EXPECT_EQ(json["format"], "sotto-manifest");
    EXPECT_EQ(json["agents"], 4);
    EXPECT_EQ(json["graph"], prepared.built->description);
    EXPECT_EQ(json["graph_hash"], to_hex(run.topography.graph.hash()));
    EXPECT_EQ(json["mixing_hash"], to_hex(run.topography.mixing_hash()));
    EXPECT_EQ(json["plan_hash"], to_hex(run.plan.hash()));
    EXPECT_EQ(json["task"], "one quadratic function an agent");
    EXPECT_EQ(json["run_id"], to_hex(run.session.run_id));
    EXPECT_EQ(json["authentication"], "unauthenticated");
    EXPECT_TRUE(json["roster"].is_null());
    ASSERT_EQ(json["public_keys"].size(), 4U);
    for (std::size_t u = 0; u < 4; ++u) {
        EXPECT_EQ(json["public_keys"][u]["agent"], u);
        EXPECT_TRUE(json["public_keys"][u]["identity"].is_null());
    }
    EXPECT_EQ(json["message_precision"], "float64");
    EXPECT_EQ(json["link_encryption"], "none: one process, nothing crosses a wire");
}

TEST(ManifestOfData, CommitsToFilesThatAllReadAndShowsNoDigest) {
    const test::TemporaryFolder folder;
    const TrainConfig config = test::logistic_config(folder, 4, "decor", 10);
    const auto network = make_memory_network(4, 1);
    const PreparedRun prepared = test::prepare(config, *network);
    const std::vector<KeyRing> rings = distribute_seeds(*network, prepared.run.plan, 17);
    const std::string text = manifest_json(prepared.run, {to_json(process_note(*network, rings))});
    const Json data = Json::parse(text)["data"];
    EXPECT_EQ(data["files"],
              (Json::array({{{"option", "data"}, {"file", config.task.data}, {"records", 240}}})));
    EXPECT_FALSE(data["files_of_agents"]);
    EXPECT_EQ(data["commitment"], to_hex(prepared.run.data_commitments[0].value));
    for (const Digest& secret : {prepared.run.data.shared[0].digest,
                                 digest_of_agent(prepared.run.data, 0),
                                 prepared.run.data_commitments[0].key})
        EXPECT_EQ(text.find(to_hex(secret)), std::string::npos);
}

TEST_F(Manifest, RefusesNotesAboutAgentsThatAreNotThere) {
    const std::string own = to_json(process_note(*network, rings));
    for (const int agent : {-1, 4}) {
        const ProcessNote other{"host", "net", true, {{agent, 0, std::string(64, '0')}}};
        expect_contains(message_of<NetworkError>([&] {
                            (void)manifest_json(run, {own, to_json(other)});
                        }),
                        "rank 1 sent a note about agent " + std::to_string(agent));
    }
    EXPECT_THROW((void)manifest_json(run, {own, "{}"}), NetworkError);
}

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
