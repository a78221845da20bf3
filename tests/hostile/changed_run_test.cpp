// Three ranks with identities and accounts of their own die, and rank 0 changes its files before
// the run is resumed: nobody's count of what was revealed falls.

#include <fmt/format.h>

#include <csignal>
#include <fstream>
#include <functional>

#include "cli/program.hpp"
#include "core/files.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "store/run_history.hpp"
#include "trust/identity.hpp"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A run that dies without a word, again and again.
class DyingRun : public ::testing::Test {
  protected:
    /// @param more options of the training.
    void begin(int ranks, const Arguments& more = {}) {
        ranks_ = ranks;
        Arguments arguments{"train",
                            "--task",
                            "quadratic",
                            "--topology",
                            "complete",
                            "--rounds",
                            "100000000",
                            "--eval-every",
                            "1000000000",
                            "--mechanism",
                            "ldp",
                            "--epsilon",
                            "2",
                            "--quiet",
                            "--run-directory",
                            "run"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        die(arguments, -1);
    }
    void begin_with_accounts(const std::string& checkpoint_every = "200") {
        for (int u = 0; u < 3; ++u) {
            const std::string identity = folder / fmt::format("id{}", u);
            (void)enroll(identity, folder / "roster", std::to_string(u));
            const Outcome opened = run_sotto(folder,
                                             one_process,
                                             {"ledger",
                                              "--open-account",
                                              fmt::format("account{}", u),
                                              "--epsilon",
                                              "2",
                                              "--delta",
                                              "1e-5",
                                              "--identity",
                                              identity});
            ASSERT_EQ(opened.exit_code, 0) << opened.text();
        }
        begin(3,
              {"--roster",
               folder / "roster",
               "--identity",
               folder / "id%r",
               "--budget-account",
               folder / "account%r",
               "--bootstrap",
               "distributed",
               "--checkpoint-every",
               checkpoint_every});
    }
    /// Takes it up, until it has a checkpoint of its own, and kills it.
    void die_again() { die({"train", "--resume", "run", "--quiet"}, newest_round()); }
    void die(const Arguments& arguments, long after) {
        Process process(sotto_command(ranks_, arguments), folder.path());
        const bool reached = happens([&] {
            return has_checkpoint(folder / "run", after) && fs::exists(folder / "run/sent/0") &&
                   content_of(folder / "run/sent/0").find("round 0\n") == std::string::npos;
        });
        process.signal_group(SIGKILL);
        const Outcome outcome = process.wait();
        ASSERT_TRUE(reached) << outcome.text();
        ASSERT_TRUE(all_ended(folder.path()));
    }
    long newest_round() const {
        long newest = -1;
        for (const auto& entry : fs::directory_iterator(folder / "run/checkpoints"))
            newest = std::max(newest, std::stol(entry.path().filename().string()));
        return newest;
    }
    /// The run ends where it is, in a copy that `change` has changed.
    Outcome end_changed(const std::function<void(const std::string& run)>& change) {
        fs::remove_all(folder / "changed");
        fs::copy(folder / "run", folder / "changed", fs::copy_options::recursive);
        for (int u = 0; u < 3; ++u)
            for (const char* ending : {"", ".serial"}) {
                const std::string file = folder / fmt::format("account{}{}", u, ending);
                if (fs::exists(file))
                    fs::copy_file(file, file + ".kept", fs::copy_options::overwrite_existing);
            }
        change(folder / "changed");
        const Outcome outcome =
            run_sotto(folder, ranks_, {"train", "--resume", "changed", "--finish", "--quiet"});
        for (int u = 0; u < 3; ++u)
            for (const char* ending : {"", ".serial"}) {
                const std::string file = folder / fmt::format("account{}{}", u, ending);
                if (fs::exists(file + ".kept")) fs::rename(file + ".kept", file);
            }
        return outcome;
    }
    Json ledger() const { return json_of(folder / "changed/ledger.json"); }
    static void change_history(const std::string& run, const std::function<void(Json&)>& change) {
        Json json = json_of(run + "/history.json");
        change(json);
        std::ofstream(run + "/history.json") << json.dump();
    }
    /// Every line of config.ini is left out, and has other values: what was sent counts all the
    /// same, or the run is refused.
    void expect_no_option_counts_less(const Json& honest) {
        const std::vector<std::string> lines = lines_of(content_of(folder / "run/config.ini"));
        for (std::size_t k = 0; k < lines.size(); ++k) {
            const std::size_t equals = lines[k].find(" = ");
            if (equals == std::string::npos) continue;
            for (const std::string value : {"", "0", "3", "0.001", "inverse"}) {
                SCOPED_TRACE(lines[k] + " -> " + value);
                std::string text;
                for (std::size_t j = 0; j < lines.size(); ++j)
                    if (j != k)
                        text += lines[j] + "\n";
                    else if (!value.empty())
                        text += lines[k].substr(0, equals + 3) + value + "\n";
                const Outcome outcome = end_changed(
                    [&](const std::string& run) { std::ofstream(run + "/config.ini") << text; });
                if (outcome.exit_code != 0) continue;
                EXPECT_GE(ledger()["rounds"]["accounted"], honest["rounds"]["accounted"]);
                for (std::size_t u = 0; u < 3; ++u)
                    EXPECT_GE(ledger()["agents"][u]["epsilon"].get<double>(),
                              honest["agents"][u]["epsilon"].get<double>() * (1 - 1e-9));
            }
        }
    }
    void expect_refused_naming(const std::string& field,
                               const std::function<void(const std::string& run)>& change) {
        SCOPED_TRACE(field);
        const Outcome outcome = end_changed(change);
        EXPECT_EQ(outcome.exit_code, 4) << outcome.text();
        const auto errors = error_lines(outcome.err);
        ASSERT_EQ(errors.size(), 1U) << outcome.text();
        EXPECT_NE(errors.front().find("rank 0's history says " + field), std::string::npos)
            << errors.front();
    }
    int ranks_ = 0;
    TempDir folder;
};

// After each of four crashes the sensitivity in rank 0's history was divided: ledger and accounts
// then said epsilon 2 of messages that had cost 4.65.
TEST_F(DyingRun, WithAnotherSensitivityInRank0sHistoryIsRefused) {
    begin_with_accounts("0");
    change_history(folder / "run", [](Json& json) {
        for (Json& value : json["phases"].back()["sensitivity"]) value = value.get<double>() / 20;
    });
    const Outcome outcome =
        run_sotto(folder, 3, {"train", "--resume", "run", "--quiet", "--dry-run"});
    EXPECT_EQ(outcome.exit_code, 4) << outcome.text();
    EXPECT_NE(outcome.err.find("agent 0: rank 0's history says sensitivity 0.01 of phase 0, the "
                               "agent's own record 0.2"),
              std::string::npos)
        << outcome.text();
}

TEST_F(DyingRun, OfTwoPhasesCountsAllThatWasSentWhateverRank0Changes) {
    begin_with_accounts();
    fs::copy(folder / "run", folder / "old", fs::copy_options::recursive);
    die_again();
    ASSERT_EQ(end_changed([](const std::string&) {}).exit_code, 0);
    const Json honest = ledger();
    const long sent = honest["phases"][0]["rounds"];
    ASSERT_GT(sent, 0);
    for (const char* field : {"sensitivity", "sampling_probability", "own_weights"})
        expect_refused_naming(field, [&](const std::string& run) {
            change_history(run, [&](Json& json) {
                for (Json& value : json["phases"][0][field]) value = value.get<double>() / 2;
            });
        });
    // A run that died just at a checkpoint sent nothing that is done again.
    const long again = honest["phases"][1]["first_round"];
    if (again < sent)
        expect_refused_naming("rounds", [&](const std::string& run) {
            change_history(run, [&](Json& json) { json["phases"][0]["rounds"] = again; });
        });
    expect_refused_naming("sessions", [&](const std::string& run) {
        change_history(run,
                       [&](Json& json) { json["phases"][0]["sessions"] = {std::string(64, 'b')}; });
    });
    expect_refused_naming("plan_hash", [&](const std::string& run) {
        NoisePlan plan = plan_from_json(read_file(run + "/plan.json"), "plan");
        plan.scale *= 8;
        std::ofstream(run + "/plan.json") << to_json(plan);
        change_history(run,
                       [&](Json& json) { json["phases"][0]["plan_hash"] = to_hex(plan.hash()); });
    });
    // A phase that is left out, and one that never was.
    const Outcome shorter = end_changed([](const std::string& run) {
        change_history(run, [](Json& json) { json["phases"].erase(1); });
    });
    EXPECT_EQ(shorter.exit_code, 4) << shorter.text();
    EXPECT_NE(shorter.err.find("rank 0's history has 1 phases, the agent's own record has phase 1"),
              std::string::npos)
        << shorter.text();
    const auto append = [&](bool less) {
        return end_changed([&](const std::string& run) {
            fs::copy_file(run + "/plan-1.json", run + "/plan-2.json");
            change_history(run, [&](Json& json) {
                Json& phases = json["phases"];
                phases.push_back(phases[1]);
                phases[1]["rounds"] = less ? 1 : honest["phases"][1]["rounds"].get<long>();
                phases[2]["first_round"] = phases[1]["first_round"];
                phases[2]["rounds"] = 1;
                phases[2]["key_epoch"] = 2;
                phases[2]["sessions"] = {std::string(64, 'a')};
                phases[2]["plan"] = "plan-2.json";
            });
        });
    };
    EXPECT_EQ(append(true).exit_code, 4);
    const Outcome more = append(false);
    EXPECT_EQ(more.exit_code, 4) << "it counts, and is beyond the budget\n" << more.text();
    // Rank 0 goes on in a copy from before the second phase.
    const Outcome elsewhere =
        Process(disagreeing_command({"train", "--resume", folder / "old", "--quiet"},
                                    {"train", "--resume", folder / "run", "--quiet"}),
                folder.path())
            .wait();
    EXPECT_EQ(elsewhere.exit_code, 3) << elsewhere.text();
    EXPECT_EQ(lines_of(content_of(folder / "old/agents/1/revealed.jsonl")).size(), 1U);
    EXPECT_EQ(lines_of(content_of(folder / "run/agents/1/revealed.jsonl")).size(), 2U);
}

// In one process: it is the same code, and soon done.
TEST_F(DyingRun, CountsAllThatWasSentWhateverItsOptionsSay) {
    begin(one_process, {"--agents", "3", "--checkpoint-every", "200"});
    die_again();
    ASSERT_EQ(end_changed([](const std::string&) {}).exit_code, 0);
    expect_no_option_counts_less(ledger());
}

TEST(EveryRank, WritesToTheDirectoryThatItWasGiven) {
    const TempDir folder;
    Arguments other = short_training({});
    other.back() = "own";
    const auto resumed = [](const char* run) {
        return Arguments{"train", "--resume", run, "--quiet"};
    };
    const Outcome outcome =
        Process(disagreeing_command(short_training({}), other), folder.path()).wait();
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    for (const char* file : {"agents/1/model.npy", "agents/1/revealed.jsonl", "sent/1"}) {
        EXPECT_TRUE(fs::exists(fs::path(folder / "own") / file)) << file;
        EXPECT_FALSE(fs::exists(fs::path(folder / "run") / file)) << file;
    }
    EXPECT_TRUE(fs::exists(folder / "run/history.json"));
    EXPECT_FALSE(fs::exists(folder / "own/history.json"));
    const Outcome again =
        Process(disagreeing_command(resumed("run"), resumed("own")), folder.path()).wait();
    EXPECT_NE(again.err.find("is complete"), std::string::npos) << again.text();
}

}  // namespace
}  // namespace sotto::test
