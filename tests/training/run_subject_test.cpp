#include "training/run_subject.hpp"

#include "store/recorded_ledger.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;

class RecordedRunOf : public ::testing::Test {
  protected:
    RecordedRunOf() {
        config.run_directory = folder.path("run");
        (void)test::train(config);
    }
    RecordedRun read() const { return read_recorded_run(*config.run_directory, config); }
    void change(const std::string& file, const std::function<void(Json&)>& edit) const {
        const std::filesystem::path path = std::filesystem::path(*config.run_directory) / file;
        Json json = test::read_json(path);
        edit(json);
        std::ofstream(path) << json.dump();
    }
    /// As if the ledger had been written like this.
    void reseal() const {
        const std::filesystem::path run = *config.run_directory;
        const std::string digest = ledger_digest(read_file(run / "ledger.json"));
        change("manifest.json", [&](Json& manifest) { manifest["ledger_blake2b"] = {digest}; });
        for (int agent = 0; agent < 4; ++agent)
            write_ledger_digests(ledger_digest_file(run, agent), {digest});
    }
    test::TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(4, "decor", 30);
};

TEST_F(RecordedRunOf, ATrainingIsTheSubjectOfTheSameFigures) {
    const RecordedRun run = read();
    EXPECT_EQ(run.rounds, 30);
    const auto subject = account_subject_of(run);
    EXPECT_EQ(subject->plan.hash(), run.history.phases.front().plan.hash());
    EXPECT_EQ(subject->delta, config.plan.delta);
    const Json agents = test::read_json(folder.path("run/ledger.json"))["agents"];
    ASSERT_EQ(subject->exposures.size(), agents.size());
    for (std::size_t u = 0; u < agents.size(); ++u) {
        EXPECT_EQ(agents[u]["sensitivity"], subject->exposures[u].sensitivity);
        EXPECT_EQ(agents[u]["temporal_sensitivity_squared"],
                  subject->exposures[u].sensitivity_squared_over_rounds);
    }
}

TEST_F(RecordedRunOf, ATrainingThatDidNotEndWellCountsAllPlannedRounds) {
    for (const char* status : {"running", "failed", "interrupted", "completed"}) {
        change("ledger.json", [&](Json& ledger) {
            ledger["status"] = status;
            ledger["rounds"]["completed"] = 12;
        });
        const bool ended =
            std::string(status) == "interrupted" || std::string(status) == "completed";
        reseal();
        EXPECT_EQ(read().rounds, ended ? 12 : 30) << status;
        EXPECT_EQ(subject_config_of(read()).plan.rounds, ended ? 12 : 30) << status;
    }
}

TEST_F(RecordedRunOf, ATrainingWhoseLedgerWasChangedIsRefused) {
    change("ledger.json", [](Json& ledger) { ledger["rounds"]["completed"] = 12; });
    expect_contains(message_of<DataError>([&] { (void)read(); }),
                    "is not the ledger that was written");
}

TEST_F(RecordedRunOf, ATrainingWithAnotherHistoryIsRefused) {
    change("history.json", [](Json& history) { history["phases"][0]["sensitivity"][0] = 1e-9; });
    expect_contains(message_of<DataError>([&] { (void)read(); }),
                    "history.json has another sensitivity");
}

TEST_F(RecordedRunOf, ATrainingWithAnotherGraphIsRefused) {
    TrainConfig other = config;
    other.graph.topology.agents = 5;
    expect_contains(
        message_of<DataError>([&] { (void)read_recorded_run(*config.run_directory, other); }),
        "the run has 4 agents, and the graph that its options give now has 5");
    other.graph.topology.agents = 4;
    other.graph.topology.topology = Topology::complete;
    expect_contains(
        message_of<DataError>([&] { (void)read_recorded_run(*config.run_directory, other); }),
        "its graph_hash is not that of the graph");
}

TEST_F(RecordedRunOf, ATrainingKnowsWhetherItsInputsWereFixed) {
    EXPECT_EQ(subject_config_of(read()).inputs, Inputs::adaptive);
    RecordedRun run = read();
    run.config.task.task = "averaging";
    EXPECT_EQ(subject_config_of(run).inputs, Inputs::fixed);
}

}  // namespace
}  // namespace sotto
