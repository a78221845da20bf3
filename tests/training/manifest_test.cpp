#include "training/manifest.hpp"

#include "sotto/agent/bootstrap.hpp"
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

}  // namespace
}  // namespace sotto
