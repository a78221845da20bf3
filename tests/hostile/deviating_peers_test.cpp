// A peer that runs the real agent's code but for one deviation (deviations_*.cpp). The others end,
// soon, with a documented exit code and one line that names it; where it harms nobody but itself
// they complete.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

#include "cli/program.hpp"
#include "core/files.hpp"

namespace sotto::test {
namespace {

struct DeviatingPeer {
    std::string name;
    int exit_code;
    std::vector<std::string> words;  ///< in the one line that honest ranks print
    Arguments options{};
    int rank = 2;
    int ranks = 3;
    /// mpirun ends with the code of the rank that ends first, which may be the one that deviates.
    int own_exit_code = -1;
};

/// Printed by GoogleTest in place of the bytes.
std::ostream& operator<<(std::ostream& stream, const DeviatingPeer& peer) {
    return stream << peer.name;
}

Arguments joined(Arguments one, const Arguments& other) {
    one.insert(one.end(), other.begin(), other.end());
    return one;
}

const Arguments in_clear{"--link-encryption", "off"};
const Arguments short_in_clear{"--precision", "nibble", "--link-encryption", "off"};
const Arguments six_agents{"--agents", "6"};
// A message of its own for every receiver.
const Arguments six_receivers{
    "--agents", "6", "--mechanism", "zip-dl", "--noise-std", "0.1", "--topology", "complete"};
const Arguments summing{"--secure-sum", "on"};
const Arguments common_seed{"--mechanism", "corn"};
const Arguments neighbourhood_seeds{
    "--mechanism", "corn-hbc", "--seed-groups", "neighbourhoods", "--topology", "path"};
const Arguments with_roster{"--roster", "roster", "--identity", "id-%r"};
const Arguments tuned{"--task", "logistic", "--rounds", "auto", "--adjacency", "record-add-remove"};
const Arguments tuned_by_all = joined(tuned, {"--bootstrap", "distributed"});
const Arguments scaled{"--data",
                       "table.csv",
                       "--label",
                       "y",
                       "--bounds",
                       "a=-4:4,b=-4:4",
                       "--standardise",
                       "private",
                       "--task",
                       "logistic",
                       "--rounds",
                       "auto",
                       "--adjacency",
                       "record-add-remove"};
const Arguments impatient{"--stall-abort", "2"};
const Arguments very_impatient{"--stall-abort", "0.3"};

Arguments command_of(const DeviatingPeer& peer) {
    Arguments options = short_training({"--mechanism", "ldp"});
    // Options once: what a case says itself replaces it.
    const auto set = [&](const std::string& name, const std::string& value) {
        const auto found = std::ranges::find(options, name);
        if (found != options.end())
            *(found + 1) = value;
        else
            options.insert(options.end(), {name, value});
    };
    set("--eval-every", "10");
    for (std::size_t i = 0; i + 1 < peer.options.size(); i += 2)
        set(peer.options[i], peer.options[i + 1]);
    Arguments command = sotto_command(peer.ranks, options);
    *(std::ranges::find(command, std::string("train")) - 1) = SOTTO_DEVIATING_PROGRAM;
    return command;
}

/// Identities id-0, ... and their roster, where a case asks for them.
void make_identities(const TempDir& directory, const DeviatingPeer& peer) {
    if (peer.options != with_roster) return;
    for (int agent = 0; agent < peer.ranks; ++agent) {
        const Outcome made =
            run_sotto(directory,
                      one_process,
                      {"keygen", "--identity", fmt::format("id-{}", agent), "--roster", "roster"});
        ASSERT_EQ(made.exit_code, 0) << made.text();
    }
    const auto entries = lines_of(content_of(directory / "roster"));
    ::setenv("SOTTO_TEST_IDENTITY", entries.at(1).substr(0, 64).c_str(), 1);
}

/// Two columns and a label, for cases with private moments.
void make_table(const TempDir& directory) {
    std::mt19937 dice(1);
    std::normal_distribution<double> normal;
    std::string text = "a,b,y\n";
    for (int i = 0; i < 3000; ++i) {
        const double a = normal(dice), b = normal(dice);
        text += fmt::format("{:.3f},{:.3f},{}\n", a, b, a + b > 0 ? "yes" : "no");
    }
    write_file_atomically(directory / "table.csv", text);
}

Outcome train_with(const TempDir& directory, const DeviatingPeer& peer) {
    ::setenv("SOTTO_TEST_DEVIATION", peer.name.c_str(), 1);
    ::setenv("SOTTO_TEST_RANK", std::to_string(peer.rank).c_str(), 1);
    return Process(command_of(peer), directory.path()).wait();
}

DeviatingPeer ending_itself(DeviatingPeer peer) {
    peer.own_exit_code = 5;
    return peer;
}

void expect_honest_results(const TempDir& directory, const DeviatingPeer& peer) {
    EXPECT_EQ(json_of(directory / "run/ledger.json").at("status"), "completed");
    for (int agent = 0; agent < peer.ranks; ++agent)
        EXPECT_TRUE(
            read_npy(directory / fmt::format("run/agents/{}/model.npy", agent)).allFinite());
}

/// One line. Where all honest ranks find it at once, in one call, each may say it.
void expect_lines_of(const DeviatingPeer& peer, const Outcome& outcome) {
    auto errors = error_lines(outcome.err);
    // Who waits names the silent before it gives up.
    std::erase_if(errors, [](const std::string& line) {
        return line.find("giving up after") != std::string::npos;
    });
    const auto most = peer.words.empty() ? 0 : peer.ranks - 1;
    EXPECT_LE(errors.size(), static_cast<std::size_t>(most)) << outcome.text();
    EXPECT_EQ(errors.empty(), peer.words.empty()) << outcome.text();
    for (const std::string& line : errors)
        for (const std::string& word : peer.words)
            EXPECT_NE(line.find(word), std::string::npos) << word << "\n" << outcome.text();
}

class DeviatingPeers : public ::testing::TestWithParam<DeviatingPeer> {};

TEST_P(DeviatingPeers, HaveTheOutcomeTheyMustHave) {
    const DeviatingPeer& peer = GetParam();
    const TempDir directory;
    ASSERT_NO_FATAL_FAILURE(make_identities(directory, peer));
    if (peer.options == scaled) make_table(directory);
    const Outcome outcome = train_with(directory, peer);
    EXPECT_FALSE(outcome.timed_out);
    if (outcome.exit_code != peer.own_exit_code) {
        EXPECT_EQ(outcome.exit_code, peer.exit_code) << outcome.text();
    }
    expect_lines_of(peer, outcome);
    if (peer.exit_code == 0) expect_honest_results(directory, peer);
    EXPECT_TRUE(all_ended(directory.path()));
}

std::string name_of_case(const ::testing::TestParamInfo<DeviatingPeer>& test) {
    return test.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    HostingSeveralAgents,
    DeviatingPeers,
    ::testing::Values(
        DeviatingPeer{"sends_nan_in_clear", 5, {"from agent 4 to agent", "is nan"}, six_agents},
        DeviatingPeer{"sends_nan_to_one", 5, {"from agent 4 to agent 1, round 5"}, six_receivers},
        DeviatingPeer{"sends_other_bytes", 5, {"from agents 4 to 5 to agents"}, six_agents}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    InRounds,
    DeviatingPeers,
    ::testing::Values(
        DeviatingPeer{"sends_nan", 5, {"from agent 2 to agent", "round 5", "coordinate 1 is nan"}},
        DeviatingPeer{"sends_infinity", 5, {"from agent 2 to agent", "coordinate 1 is inf"}},
        DeviatingPeer{"sends_1e300", 5, {"from agent 2 to agent", "coordinate 1 is 1e+300"}},
        DeviatingPeer{"sends_just_beyond", 5, {"from agent 2 to agent", "-1e+100 to 1e+100"}},
        DeviatingPeer{"sends_nan_to_one", 5, {"from agent 2 to agent 1, round 5"}},
        DeviatingPeer{"sends_nan_in_clear", 5, {"from agent 2 to agent", "is nan"}, in_clear},
        DeviatingPeer{"sends_denormals", 0, {}},
        DeviatingPeer{"sends_huge_but_allowed", 0, {}},
        DeviatingPeer{"equivocates_in_rounds", 0, {}},
        DeviatingPeer{"adds_to_shares", 5, {"secure sum of agent", "left out a share"}, summing},
        DeviatingPeer{"leaves_out_shares", 5, {"secure sum of agent", "left out a share"}, summing},
        DeviatingPeer{
            "sends_the_share_of_another", 5, {"secure sum of agent", "left out a share"}, summing},
        DeviatingPeer{"quits", 1, {}},
        DeviatingPeer{"dies", 137, {}},
        DeviatingPeer{"stops_in_a_round", 5, {"no answer from rank 2", "round 5"}, impatient},
        DeviatingPeer{"gives_up", 3, {"rank 2, round 5: I do not feel like it"}}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    OnTheWire,
    DeviatingPeers,
    ::testing::Values(DeviatingPeer{"sends_other_bytes", 5, {"from agent 2 to agent", "round 5"}},
                      DeviatingPeer{"swaps_neighbours", 5, {"from agent 2 to agent", "round 5"}},
                      DeviatingPeer{
                          "replays_an_earlier_round", 5, {"from agent 2 to agent", "round 5"}},
                      DeviatingPeer{"sends_less", 5, {" 2", "round 5"}},
                      DeviatingPeer{"sends_nothing", 5, {" 2", "round 5"}},
                      DeviatingPeer{"sends_more", 5, {"round 5"}}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    InShortMessages,
    DeviatingPeers,
    ::testing::Values(DeviatingPeer{"sends_other_bytes",
                                    5,
                                    {"from agent 2 to agent", "round 5", "values have 32 bits"},
                                    short_in_clear},
                      DeviatingPeer{"jumps_in_clear",
                                    5,
                                    {"messages to agent", "round 5", "coordinate 1 is beyond"},
                                    short_in_clear},
                      DeviatingPeer{"replays_an_earlier_round",
                                    5,
                                    {"from agent 2 to agent", "round 5"},
                                    {"--precision", "nibble"}}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    InWhatItShows,
    DeviatingPeers,
    ::testing::Values(
        DeviatingPeer{"shows_a_model_of_nan", 5, {"model for evaluation from agent 2", "is nan"}},
        DeviatingPeer{"reports_a_distance_of_nan", 5, {"distance of a model from agent 2"}},
        DeviatingPeer{"reports_losses_of_nan", 0, {}},
        DeviatingPeer{"sends_nan_to_the_aggregator",
                      5,
                      {"message to the trusted aggregator", "from agent 2", "is nan"},
                      {"--mechanism", "cdp", "--optimality-gap", "off"}},
        DeviatingPeer{"stops_in_evaluation", 5, {"no answer from rank 2"}, impatient},
        DeviatingPeer{"votes_nan", 0, {}},
        DeviatingPeer{"votes_infinity", 0, {}},
        DeviatingPeer{"votes_to_stop", 8, {}},
        DeviatingPeer{"is_on_the_disk_of_a_later_rank", 5, {"the word of rank 2 on its disk"}},
        DeviatingPeer{"cuts_what_it_shows_of_its_data", 5, {"what rank 2 shows of its data"}},
        DeviatingPeer{"reports_a_damaged_checkpoint", 5, {"the checkpoint of rank 2"}},
        DeviatingPeer{"reports_garbage_at_the_end", 5, {"the figures of rank 2"}}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    InHandshakes,
    DeviatingPeers,
    ::testing::Values(
        DeviatingPeer{"announces_agent_0", 5, {"ranks 0 and 2 both announced agent 0"}},
        DeviatingPeer{"announces_agent_7", 5, {"rank 2 announced agent 7"}},
        DeviatingPeer{"announces_agent_minus_1", 5, {"rank 2 announced agent -1"}},
        DeviatingPeer{"announces_nobody", 5, {"no rank announced agent 2"}},
        DeviatingPeer{"announces_four_billion_agents", 5, {"the announcement of rank 2"}},
        DeviatingPeer{"announces_garbage", 5, {"rank 2"}},
        DeviatingPeer{"speaks_another_protocol", 5, {"rank 2 speaks another protocol"}},
        DeviatingPeer{"commits_to_another_share",
                      5,
                      {"the share of agent 2", "not what it committed to"},
                      common_seed},
        DeviatingPeer{"changes_its_nonce", 5, {"rank 2: agent 2 received another announcement"}},
        DeviatingPeer{
            "shows_an_unknown_identity", 5, {"agent 2 is not in the roster"}, with_roster},
        DeviatingPeer{"shows_no_identity", 5, {"agent 2 has no identity"}, with_roster},
        DeviatingPeer{"has_another_roster", 5, {"rank 2 was started with the roster"}, with_roster},
        DeviatingPeer{"shows_the_identity_of_agent_1",
                      5,
                      {"agents 1 and 2 have the same identity"},
                      with_roster},
        DeviatingPeer{"does_not_sign", 5, {"agent 2 did not prove that it is"}, with_roster},
        DeviatingPeer{"confirms_another_transcript", 5, {"rank 2 saw another graph"}},
        DeviatingPeer{"cuts_its_confirmation", 5, {"the confirmation of rank 2"}},
        DeviatingPeer{"was_told_something_else", 5, {"rank 2 saw another"}},
        DeviatingPeer{"has_no_randomness", 0, {}}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    InSeeds,
    DeviatingPeers,
    ::testing::Values(
        DeviatingPeer{"seals_another_share", 5, {"what agent 2 sealed for agent 0"}, common_seed},
        DeviatingPeer{"cuts_its_share", 5, {"what rank 2 sent of seeds"}, common_seed},
        DeviatingPeer{"sends_the_share_of_agent_1", 5, {"rank 2"}, common_seed},
        DeviatingPeer{"sends_no_share", 5, {"agent 2"}, common_seed},
        DeviatingPeer{
            "sends_its_share_twice", 5, {"what rank 2 sent of seeds", "came twice"}, common_seed},
        DeviatingPeer{
            "changes_a_seed", 5, {"what agent 1 sealed for agent"}, neighbourhood_seeds, 1, 4},
        DeviatingPeer{"cuts_a_seed", 5, {"what rank 1 sent of seeds"}, neighbourhood_seeds, 1, 4},
        DeviatingPeer{
            "deals_no_seeds", 5, {"agent 1 did not send agent"}, neighbourhood_seeds, 1, 4},
        DeviatingPeer{"deals_twice",
                      5,
                      {"what rank 1 sent of seeds", "gave it already"},
                      neighbourhood_seeds,
                      1,
                      4},
        DeviatingPeer{"deals_to_a_stranger",
                      5,
                      {"what rank 1 sent of seeds", "agent 0 has seeds of agent 1"},
                      neighbourhood_seeds,
                      1,
                      4},
        DeviatingPeer{"deals_for_agent_0", 5, {"rank 1"}, neighbourhood_seeds, 1, 4}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    InStatements,
    DeviatingPeers,
    ::testing::Values(
        DeviatingPeer{"has_a_record_less_than_none", 5, {"rank 2", "numbers of records"}},
        DeviatingPeer{"has_nan_records", 5, {"rank 2", "numbers of records"}},
        DeviatingPeer{"has_more_records_than_there_are", 5, {"rank 2", "numbers of records"}},
        DeviatingPeer{"has_9e18_records", 0, {}},
        DeviatingPeer{"speaks_for_two", 5, {"rank 2", "numbers of records"}},
        DeviatingPeer{"says_other_options", 5, {"rank 2 was started with"}},
        DeviatingPeer{"says_a_megabyte_of_options", 5, {"rank 2"}},
        DeviatingPeer{"holds_another_plan", 5, {"rank 2 holds another graph"}},
        DeviatingPeer{"sends_a_garbled_note", 5, {"what rank 2 sent for the manifest"}},
        DeviatingPeer{"sends_a_note_nested_deeply", 5, {"rank 2 announces 200000 bytes"}},
        DeviatingPeer{"sends_a_note_of_a_megabyte", 5, {"rank 2 announces 1048"}},
        DeviatingPeer{"has_a_model_of_9e18_parameters",
                      3,
                      {"the model of agent 2 has 9000000000000000000 parameters"}},
        DeviatingPeer{"resumes_alone", 5, {"rank 2 with it"}}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    InPaidRounds,
    DeviatingPeers,
    ::testing::Values(
        DeviatingPeer{"chooses_other_rounds", 5, {"rank 1"}, tuned, 0},
        // Steps are no matter of privacy. Where all processes plan they compare them.
        DeviatingPeer{"chooses_other_noise", 0, {}, tuned, 0},
        DeviatingPeer{"chooses_less_noise", 5, {"rank 1 chose"}, tuned_by_all, 0},
        DeviatingPeer{"chooses_nan_records", 5, {"rank 0 said", "batch-size"}, tuned, 0},
        DeviatingPeer{"measures_moments_too", 5, {"rank 0 chose to measure moments"}, tuned, 0},
        DeviatingPeer{"halves_the_noise_of_a_survey", 4, {"agent"}, tuned, 0},
        DeviatingPeer{"has_no_noise_in_a_survey", 5, {"rank 0 chose 0"}, tuned, 0},
        DeviatingPeer{"halves_it_for_others_only", 4, {"rank"}, tuned, 0},
        DeviatingPeer{"says_longer_gradients", 5, {"agent", "most gradients have norms"}, tuned, 0},
        DeviatingPeer{"says_a_bin_beyond_the_last", 5, {"agent"}, tuned, 0},
        DeviatingPeer{"says_a_bin_before_the_first", 5, {"agent"}, tuned, 0},
        DeviatingPeer{"says_a_place_outside_its_bin", 5, {"agent"}, tuned, 0},
        DeviatingPeer{"says_other_moments", 5, {"agent", "other moments of columns"}, scaled, 0},
        DeviatingPeer{"says_moments_of_nan", 5, {"rank 0 said", "moment"}, scaled, 0},
        DeviatingPeer{"says_too_few_moments", 5, {"3 moments of columns"}, scaled, 0}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    InEndings,
    DeviatingPeers,
    ::testing::Values(
        DeviatingPeer{"fails_with_garbage", 5, {"rank 2: \\xff\\xfe"}},
        DeviatingPeer{"fails_with_a_megabyte", 5, {"rank 2: yyy", "y ..."}},
        DeviatingPeer{"fails_with_4_GB_of_words", 5, {"rank 2 announces 4294967296 bytes"}},
        DeviatingPeer{"fails_in_setup", 3, {"rank 2: my data are not for you"}},
        ending_itself(DeviatingPeer{"fails_with_exit_code_0", 1, {"rank 2: all is well"}}),
        ending_itself(DeviatingPeer{"fails_with_exit_code_99", 1, {"rank 2: all is well"}}),
        DeviatingPeer{"announces_a_giant_string", 5, {"rank 2 announces 1152921504606846976"}},
        DeviatingPeer{"stops_in_bootstrap", 5, {"no answer from rank 2"}, very_impatient},
        DeviatingPeer{"quits_in_bootstrap", 1, {}}),
    name_of_case);

}  // namespace
}  // namespace sotto::test
