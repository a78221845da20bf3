// Somebody between the agents changes a message: the whole job ends, soon, with exit code 5 and a
// line that names the edge.

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "program.hpp"

namespace sotto::test {
namespace {

Outcome train(const TempDir& directory, const std::string& tamper, const Arguments& more) {
    Arguments arguments = short_training({"--mechanism", "corn"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    Arguments command = sotto_command(3, arguments);
    const auto program = std::ranges::find(command, std::string("train")) - 1;
    *program = SOTTO_TAMPERING_PROGRAM;
    ::setenv("SOTTO_TEST_TAMPER", tamper.c_str(), 1);
    return Process(command, directory.path()).wait();
}

void expect_stopped(const TempDir& directory,
                    const std::string& tamper,
                    const Arguments& more,
                    const std::string& edge) {
    const Outcome outcome = train(directory, tamper, more);
    EXPECT_EQ(outcome.exit_code, 5) << outcome.text();
    EXPECT_FALSE(outcome.timed_out);
    const auto errors = error_lines(outcome.err);
    ASSERT_EQ(errors.size(), 1U) << outcome.text();
    EXPECT_NE(errors.front().find(edge), std::string::npos) << errors.front();
    EXPECT_TRUE(all_ended(directory.path()));
}

TEST(Tampering, WithNothingTheJobCompletes) {
    const TempDir directory;
    const Outcome outcome = train(directory, "", {});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    const auto cipher = json_of(directory / "run/manifest.json").at("link_encryption");
    EXPECT_TRUE(cipher == "AES-256-GCM" || cipher == "ChaCha20-Poly1305") << cipher;
}

TEST(Tampering, WithABitEndsTheJob) {
    const TempDir directory;
    expect_stopped(directory, "flip", {}, "from agent 2 to agent 1, round 12");
    EXPECT_EQ(json_of(directory / "run/ledger.json").at("status"), "running");
}

TEST(Tampering, WithAMessageOfAnEarlierRoundEndsTheJob) {
    const TempDir directory;
    expect_stopped(directory, "replay", {}, "from agent 0 to agent 1, round 12");
}

TEST(Tampering, BySwappingTheMessagesOfTwoEdgesEndsTheJob) {
    const TempDir directory;
    expect_stopped(directory, "swap", {}, "from agent 0 to agent 1, round 12");
}

TEST(Tampering, WithAMaskedShareEndsTheJob) {
    const TempDir directory;
    expect_stopped(directory, "flip", {"--secure-sum", "on"}, "from agent 2 to agent 1, round 12");
}

TEST(Tampering, GoesUnnoticedWithoutEncryption) {
    const TempDir directory;
    // Shares leave through the call that is tampered with, encrypted or not.
    const Outcome outcome =
        train(directory, "flip", {"--secure-sum", "on", "--link-encryption", "off"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_EQ(json_of(directory / "run/manifest.json").at("link_encryption"), "off");
}

TEST(Transport, OfRanksStartedWithDifferentOptionsIsRefused) {
    const TempDir directory;
    const Arguments options{"train", "--quiet"};
    for (const Arguments& other : {Arguments{"--secure-sum", "on"},
                                   Arguments{"--link-encryption", "off"},
                                   Arguments{"--task", "quadratic"},
                                   Arguments{"--rounds", "5"},
                                   Arguments{"--gossip-steps", "2"},
                                   Arguments{"--temporal", "one-lag"},
                                   Arguments{"--temporal-restart", "4"},
                                   Arguments{"--eval-every", "3"},
                                   Arguments{"--record-view", "0"},
                                   Arguments{"--record-view", "eavesdropper"},
                                   Arguments{"--noise-seed", "4"},
                                   Arguments{"--dry-run"}}) {
        Arguments others = options;
        others.insert(others.end(), other.begin(), other.end());
        const Outcome outcome =
            Process(disagreeing_command(options, others), directory.path()).wait();
        EXPECT_EQ(outcome.exit_code, 5) << outcome.text();
        const auto errors = error_lines(outcome.err);
        ASSERT_EQ(errors.size(), 1U) << outcome.text();
        EXPECT_NE(errors.front().find("rank 1 was started with " + other.front()),
                  std::string::npos)
            << errors.front();
    }
}

TEST(LearntClip, OfSomeRanksAloneIsRefused) {
    const TempDir directory;
    const Arguments given{"train", "--quiet", "--rounds", "5"};
    Arguments learnt = given;
    learnt.insert(learnt.end(), {"--clip-norm", "learnt"});
    for (const auto& [first, others, word] :
         {std::tuple(given, learnt, "rank 1 learns its clip"),
          std::tuple(learnt, given, "rank 1 is given its clip")}) {
        const Outcome outcome =
            Process(disagreeing_command(first, others), directory.path()).wait();
        EXPECT_EQ(outcome.exit_code, 5) << outcome.text();
        const auto errors = error_lines(outcome.err);
        ASSERT_EQ(errors.size(), 1U) << outcome.text();
        EXPECT_NE(errors.front().find(word), std::string::npos) << errors.front();
    }
}

TEST(RecordedView, OverMpiIsWrittenByTheAgentsOwnRankAndChangesNothing) {
    const TempDir directory;
    const Arguments options{
        "train", "--task", "quadratic", "--noise-seed", "3", "--rounds", "7", "--quiet"};
    const auto run = [&](const std::string& name, const Arguments& more) {
        Arguments arguments = options;
        arguments.insert(arguments.end(), {"--run-directory", name});
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = run_sotto(directory, 3, arguments);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
        return content_of(directory / (name + "/agents/1/model.npy"));
    };
    EXPECT_EQ(run("plain", {}), run("recorded", {"--record-view", "eavesdropper,2,0"}));
    EXPECT_EQ(content_of(directory / "recorded/views/2/view.bin").substr(0, 8), "SOTTOVW1");
    EXPECT_EQ(content_of(directory / "recorded/views/0/view.bin").substr(0, 8), "SOTTOVW1");
    EXPECT_FALSE(std::filesystem::exists(directory / "recorded/views/1"));
    for (const char* agent : {"0", "1", "2"})
        EXPECT_EQ(
            content_of(directory / ("recorded/views/wire/" + std::string(agent) + "/messages.bin"))
                .substr(0, 8),
            "SOTTOWR1");
    const auto manifest = json_of(directory / "recorded/manifest.json");
    EXPECT_EQ(manifest.at("recorded_views"), (std::vector<int>{0, 2}));
    EXPECT_EQ(manifest.at("recorded_wire"), true);
}

}  // namespace
}  // namespace sotto::test
