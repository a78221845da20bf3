#include "audit/audit_job.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "audit/attack.hpp"
#include "audit/audit_run.hpp"

namespace sotto {
namespace {

using test::audit_outcome;
using test::TemporaryFolder;

// The driver, with an attack that this file adds to the table.

namespace fs = std::filesystem;

/// Finds what a file of the run directory says, if it is there.
struct NoteResult final : AuditResult {
    nlohmann::ordered_json json() const override {
        nlohmann::ordered_json json = run_json(*this);
        add_ending(json, *this);
        return json;
    }
    std::string question() const override { return "looks"; }
    std::string tables() const override { return ""; }
    std::string agreement() const override { return "nothing is there"; }
    void write_files(const RunDirectory& directory) const override {
        directory.write("result.txt", "written");
    }
};

class NoteAttack final : public Attack {
  public:
    using Attack::Attack;
    void write_inputs(const RunDirectory& directory) const override {
        directory.write("inputs.txt", "written");
    }
    void gather(const fs::path& folder, Control&) override {
        seen_ = fs::exists(folder / "views" / "1" / "view.bin");
    }
    std::unique_ptr<AuditResult> analyse(const fs::path& folder) const override {
        auto result = std::make_unique<NoteResult>();
        result->mechanism = config().train.plan.mechanism;
        if (!seen_) result->findings.emplace_back("no view was recorded");
        if (fs::exists(folder / "note.txt"))
            result->findings.push_back(read_file(folder / "note.txt"));
        return result;
    }

  private:
    bool seen_ = false;
};

const Registered<AttackRecord> note_attack(
    attacks(),
    {.name = "note",
     .help = "what a note says",
     .fixed_inputs = false,
     .options = {},
     .defaults = {},
     .start = [](AuditConfig config, AuditSubject subject, Control&) -> std::unique_ptr<Attack> {
         return std::make_unique<NoteAttack>(std::move(config), std::move(subject));
     }});

AuditConfig note_config(const TemporaryFolder& folder) {
    AuditConfig config;
    config.train = test::quadratic_config(5, "ldp", 3);
    config.train.run_directory = folder.path("run");
    config.train.task.seed = 8;
    config.attack = "note";
    config.view = "coalition:1,3";
    return config;
}

TEST(AuditJob, RunsTheAttackAndKeepsWhatItFound) {
    const TemporaryFolder folder;
    const AuditConfig config = note_config(folder);
    const AuditOutcome outcome = audit_outcome(config);
    ASSERT_NE(outcome.result, nullptr);
    EXPECT_TRUE(outcome.consistent);
    const AuditResult& result = *outcome.result;
    EXPECT_TRUE(result.consistent());
    EXPECT_EQ(result.attack, "note");
    EXPECT_EQ(result.mechanism, "ldp");
    EXPECT_EQ(result.view, "coalition:1,3");
    EXPECT_EQ(result.agents, 5);
    EXPECT_EQ(result.rounds, 3);
    EXPECT_EQ(result.seed, 8U);
    EXPECT_EQ(result.run_directory, *config.train.run_directory);
    EXPECT_GT(result.seconds, 0);
    const fs::path run = result.run_directory;
    EXPECT_EQ(read_file(run / "audit.json"), audit_report_json(result));
    EXPECT_EQ(read_file(run / "inputs.txt"), "written");
    EXPECT_EQ(read_file(run / "result.txt"), "written");
    // The members' views, and nobody else's.
    EXPECT_TRUE(fs::exists(run / "views" / "3" / "view.bin"));
    EXPECT_FALSE(fs::exists(run / "views" / "2"));
    EXPECT_FALSE(fs::exists(run / "views" / "wire"));
}

TEST(AuditJob, LooksAtARunAgainAndWritesNothing) {
    const TemporaryFolder folder;
    AuditConfig config = note_config(folder);
    (void)audit_outcome(config);
    const fs::path run = *config.train.run_directory;
    for (const char* file : {"audit.json", "inputs.txt", "result.txt"}) fs::remove(run / file);
    config.run = run.string();
    (void)folder.write("run/note.txt", "something is wrong");
    const AuditOutcome again = audit_outcome(config);
    EXPECT_FALSE(again.consistent);
    EXPECT_EQ(again.result->findings, std::vector<std::string>{"something is wrong"});
    for (const char* file : {"audit.json", "inputs.txt", "result.txt"})
        EXPECT_FALSE(fs::exists(run / file)) << file;
}

TEST(AuditJob, SaysThatAStoppedRunCannotBeAnalysed) {
    const TemporaryFolder folder;
    const AuditConfig config = note_config(folder);
    const auto network = make_memory_network(5, 1);
    TrainingListener observer;
    test::expect_contains(test::message_of<Error>([&] {
                              (void)run_audit(config, *network, observer, [] { return true; });
                          }),
                          "nothing to analyse");
}

TEST(AuditJob, RefusesAnAttackThatDoesNotExist) {
    const TemporaryFolder folder;
    AuditConfig config = note_config(folder);
    config.attack = "notes";
    test::expect_contains(test::message_of<ConfigError>([&] { (void)audit_outcome(config); }),
                          "'note'");
}

struct PlainResult final : AuditResult {
    nlohmann::ordered_json json() const override {
        nlohmann::ordered_json json = run_json(*this);
        json["own"] = 1;
        add_ending(json, *this);
        return json;
    }
    std::string question() const override { return "asks"; }
    std::string tables() const override { return "  a table\n"; }
    std::string agreement() const override { return "all is well"; }
};

PlainResult plain_result() {
    PlainResult result;
    result.attack = "plain";
    result.mechanism = "ldp";
    result.view = "node:1";
    result.agents = 4;
    result.rounds = 9;
    result.seconds = 1.25;
    result.run_directory = "runs/x";
    return result;
}

TEST(AuditReport, SaysWhatEveryAttackSays) {
    PlainResult result = plain_result();
    EXPECT_EQ(audit_report_text(result),
              "audit: ldp, 4 agents, 9 rounds; node:1 asks\n  a table\n"
              "consistent: all is well (1.2 s)\n");
    const auto json = nlohmann::ordered_json::parse(audit_report_json(result));
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    EXPECT_EQ(keys,
              (std::vector<std::string>{"attack",
                                        "mechanism",
                                        "agents",
                                        "rounds",
                                        "own",
                                        "findings",
                                        "seed",
                                        "seconds",
                                        "run_directory"}));
}

TEST(AuditReport, NamesTheTaskAndEveryFinding) {
    PlainResult result = plain_result();
    result.task = "mlp";
    result.findings = {"one", "two"};
    EXPECT_FALSE(result.consistent());
    EXPECT_EQ(audit_report_text(result),
              "audit: ldp, 4 agents, 9 rounds of mlp; node:1 asks\n  a table\n"
              "INCONSISTENT:\n  - one\n  - two\n");
    const auto json = nlohmann::json::parse(audit_report_json(result));
    EXPECT_EQ(json.at("task"), "mlp");
    EXPECT_EQ(json.at("findings").size(), 2U);
}

TEST(AuditReport, WritesFiguresThatAreNoNumbers) {
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(number_json(infinity).is_null());
    EXPECT_TRUE(number_json(-infinity).is_null());
    EXPECT_EQ(number_json(0.5), 0.5);
    EXPECT_EQ(number_text(infinity, 4), "infinite");
    EXPECT_EQ(number_text(-infinity, 4), "infinite");
    EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN(), 4), "-");
    EXPECT_EQ(number_text(1.23456, 3), "1.23");
    EXPECT_TRUE(distance_json(-1).is_null());
    EXPECT_EQ(distance_json(2), 2);
    EXPECT_EQ(distance_text(-1), "-");
    EXPECT_EQ(distance_text(2), "2");
}

}  // namespace
}  // namespace sotto
