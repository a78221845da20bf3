#include "store/recorded_ledger.hpp"

#include "config/run_fixtures.hpp"
#include "training/resume_fixtures.hpp"

namespace sotto::test {
namespace {

class RecordedLedgers : public ResumableRun {};

TEST_F(RecordedLedgers, SayWhatARunHasRevealedAndWhoTookPart) {
    TrainConfig asked = config("a", "ldp");
    give_identities(asked);
    const TrainResult result = run(asked);
    const RecordedLedger ledger = read_recorded_ledger(path("a"));
    EXPECT_EQ(ledger.run, read_json(fs::path(path("a")) / "history.json").at("run"));
    EXPECT_EQ(ledger.mechanism, "ldp");
    EXPECT_EQ(ledger.status, "completed");
    EXPECT_EQ(ledger.rounds_accounted, rounds);
    EXPECT_EQ(ledger.adjacency, Adjacency::agent);
    ASSERT_EQ(ledger.agents.size(), static_cast<std::size_t>(agents));
    EXPECT_TRUE(ledger.has_identities());
    EXPECT_EQ(ledger.agents[2].name, "agent2");
    EXPECT_EQ(*ledger.agents[2].identity, to_hex(Identity::read(folder.path("id2")).public_key()));
    EXPECT_NEAR(ledger.worst().mu().value(), result.mu, 1e-12);
    EXPECT_GE(ledger.worst().mu().value(), result.mu);
}

TEST_F(RecordedLedgers, OfOtherNoise) {
    (void)run(config("laplace", "laplace"));
    (void)run(config("none", "none"));
    EXPECT_FALSE(read_recorded_ledger(path("laplace")).worst().mu());
    EXPECT_NEAR(read_recorded_ledger(path("laplace")).worst().parameter().value, 10, 1e-6);
    EXPECT_TRUE(read_recorded_ledger(path("none")).worst().infinite());
    EXPECT_FALSE(read_recorded_ledger(path("none")).has_identities());
}

TEST_F(RecordedLedgers, OfARunThatStoppedCountWhatLeft) {
    const TrainResult stopped = run_until_stopped(config("a", "ldp"), 10);
    const RecordedLedger ledger = read_recorded_ledger(path("a"));
    EXPECT_EQ(ledger.rounds_accounted, stopped.rounds);
    EXPECT_EQ(ledger.status, "interrupted");
    EXPECT_NEAR(ledger.worst().mu().value(), stopped.mu, 1e-12);
    run_until_killed(config("b", "ldp"), 10);
    // What has left for certain is not known: all that may have.
    EXPECT_EQ(read_recorded_ledger(path("b")).rounds_accounted, rounds);
}

TEST_F(RecordedLedgers, AreFoundInSweepsToo) {
    fs::create_directories(path("sweep/runs/failed"));
    fs::create_directories(path("sweep/spent"));
    for (const char* name : {"sweep/runs/one", "sweep/runs/two", "two"})
        (void)run(config(name, "ldp"));
    keep_what_was_revealed(path("two"), path("sweep/spent"));
    const auto found = runs_in(path("sweep"));
    ASSERT_EQ(found.size(), 3U);
    const RecordedLedger kept = read_recorded_ledger(found.back());
    EXPECT_EQ(kept.run, read_recorded_ledger(path("two")).run);
    EXPECT_EQ(kept.worst(), read_recorded_ledger(path("two")).worst());
    EXPECT_EQ(runs_in(path("two")), std::vector<fs::path>{path("two")});
    expect_contains(message_of<DataError>([&] { (void)runs_in(folder.path(".")); }),
                    "it holds no run");
    keep_what_was_revealed(path("sweep/runs/failed"), path("sweep/spent"));
    EXPECT_EQ(runs_in(path("sweep")).size(), 3U);
}

TEST_F(RecordedLedgers, HaveSampledRounds) {
    (void)run(config("a", "ldp"));
    Json json = Json::parse(read_file(fs::path(path("a")) / "ledger.json"));
    const SampledRounds rounds{1.5, 0.05, 100};
    const PrivacyLoss loss = PrivacyLoss::sampled({&rounds, 1});
    for (Json& agent : json["agents"]) {
        agent["mu"] = Json();
        agent["epsilon"] = loss.epsilon(1e-5).upper;
        agent["loss"] = {
            {"sampled_rounds",
             {{{"noise_multiplier", 1.5}, {"sampling_probability", 0.05}, {"count", 100}}}}};
    }
    const std::string manifest = read_file(fs::path(path("a")) / "manifest.json");
    EXPECT_EQ(recorded_ledger_from(json.dump(), manifest, "a").worst(), loss);
}

TEST_F(RecordedLedgers, ThatAreDamagedAreRefused) {
    (void)run(config("a", "ldp"));
    const std::string ledger = read_file(fs::path(path("a")) / "ledger.json");
    const std::string manifest = read_file(fs::path(path("a")) / "manifest.json");
    const auto refusal = [&](const std::string& one, const std::string& other) {
        return message_of<DataError>([&] { (void)recorded_ledger_from(one, other, "a"); });
    };
    const auto with = [](const std::string& text, const std::function<void(Json&)>& change) {
        Json json = Json::parse(text);
        change(json);
        return json.dump();
    };
    expect_contains(refusal("[]", manifest), "a/ledger.json: the whole document is an array");
    expect_contains(refusal(ledger, "[]"), "a/manifest.json: the whole document is an array");
    expect_contains(refusal(ledger, manifest.substr(0, 50)), "a/manifest.json: it is no JSON");
    expect_contains(refusal(std::string(9999, '['), manifest), "nested");
    const std::vector<std::pair<std::function<void(Json&)>, std::string>> wrong{
        {[](Json& json) { json["format"] = "x"; }, "format is \"x\""},
        {[](Json& json) { json["agents"] = Json::array(); }, "at least one agent"},
        {[](Json& json) { json["agents"][0].erase("mu"); }, "agents[0].mu is missing"},
        {[](Json& json) { json["agents"][0]["mu"] = -1; }, "agents[0].mu is -1"},
        {[](Json& json) { json["agents"][0]["mu"] = "low"; }, "agents[0].mu is \"low\""},
        {[](Json& json) { json["agents"][1]["agent"] = 7; }, "agents[1].agent is 7"},
        {[](Json& json) { json["adjacency"] = "planet"; }, "planet"},
        {[](Json& json) { json["unit_column"] = 3; }, "unit_column is 3"},
        {[](Json& json) { json.erase("observers"); }, "observers is missing"},
        {[](Json& json) { json["observers"][0]["epsilon"] = -1; }, "observers[0].epsilon is -1"},
        {[](Json& json) { json["rounds"]["planned"] = 1e99; }, "whole number"},
        {[](Json& json) { json["delta"] = 2; }, "delta"},
        {[](Json& json) {
             json["agents"][0]["loss"] = {{"mu^2", 1}};
         },
         "agents[0].mu is 2"},
        {[](Json& json) {
             json["agents"][0]["mu"] = Json();
             json["agents"][0]["loss"] = {{"sampled_rounds", {{{"count", 1}}}}};
         },
         "agents[0].loss.sampled_rounds[0] is an object (must be noise_multiplier"}};
    for (const auto& [change, part] : wrong)
        expect_contains(refusal(with(ledger, change), manifest), part);
    // Nobody can say later that persons, or records, were protected.
    const std::string persons = with(ledger, [](Json& json) { json["unit_column"] = "patient"; });
    EXPECT_NE(ledger_digest(persons), ledger_digest(ledger));
    expect_contains(refusal(ledger, with(manifest, [](Json& json) { json["run_id"] = "12"; })),
                    "run_id is \"12\"");
    expect_contains(
        refusal(ledger, with(manifest, [](Json& json) { json["public_keys"][0]["agent"] = 99; })),
        "public_keys[0].agent is 99");
}

}  // namespace
}  // namespace sotto::test

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::Json;

Json ledger(const std::string& status) {
    return {{"format", "sotto-ledger"},
            {"version", 2},
            {"status", status},
            {"rounds", {{"planned", 30}, {"completed", 12}, {"accounted", 30}}},
            {"headline", {{"epsilon", 3.5}}}};
}

TEST(LedgerDigest, OfAnEndedRunCoversEverything) {
    const std::string before = ledger_digest(ledger("completed").dump());
    EXPECT_EQ(before.size(), 64U);
    EXPECT_EQ(ledger_digest(ledger("completed").dump(2)), before);  // blanks say nothing
    for (const char* pointer : {"/status", "/rounds/completed", "/headline/epsilon"}) {
        Json changed = ledger("completed");
        changed[Json::json_pointer(pointer)] = "running";
        EXPECT_NE(ledger_digest(changed.dump()), before) << pointer;
    }
}

TEST(LedgerDigest, OfARunUnderWayIsFixedBeforeItsFirstMessage) {
    const std::string before = ledger_digest(ledger("running").dump());
    Json later = ledger("failed");
    later["rounds"]["completed"] = 20;
    later["views"] = {{{"view", "node:0"}}};
    EXPECT_EQ(ledger_digest(later.dump()), before);
    later["headline"]["epsilon"] = 1;
    EXPECT_NE(ledger_digest(later.dump()), before);
    EXPECT_NE(ledger_digest(ledger("completed").dump()), before);
}

TEST(SealedLedger, IsReadWhereTheLastManifestAndAllCopiesNameIt) {
    const test::TemporaryFolder folder;
    const std::string text = ledger("completed").dump(), digest = ledger_digest(text);
    const std::string other(64, '0');
    (void)folder.write("ledger.json", text);
    (void)folder.write("manifest.json", with_ledger_digests("{}", {other}));
    EXPECT_THROW((void)read_sealed_ledger(folder.path()), DataError);
    (void)folder.write("manifest-1.json", with_ledger_digests("{}", {other, digest}));
    EXPECT_EQ(read_sealed_ledger(folder.path()), text);
    const fs::path copy = ledger_digest_file(folder.path(), 4);
    fs::create_directories(copy.parent_path());
    write_ledger_digests(copy, {digest});
    EXPECT_EQ(read_ledger_digests(copy), std::vector{digest});
    EXPECT_EQ(read_sealed_ledger(folder.path()), text);
    write_ledger_digests(copy, {other});
    test::expect_contains(
        test::message_of<DataError>([&] { (void)read_sealed_ledger(folder.path()); }),
        "agents/4/ledger.blake2b");
}

}  // namespace
}  // namespace sotto
