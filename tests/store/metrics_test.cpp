#include "store/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <utility>

#include "core/numbers.hpp"
#include "training/resume_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

TEST(MetricsRow, IsALineUnderTheHead) {
    MetricsRow row{.round = 7, .epsilon = 1.5, .elapsed_seconds = 0.5};
    row.evaluation.consensus_distance = 0.25;
    row.evaluation.records = {std::nullopt, 1000};
    EXPECT_EQ(metrics_head(),
              "round,epsilon,test_loss,test_loss_worst,test_loss_mean_model,test_accuracy,"
              "test_accuracy_mean_model,train_loss_mean_model,optimality_gap,"
              "optimality_gap_agents,consensus_distance,elapsed_seconds,gradient_seconds,"
              "noise_seconds,exchange_seconds,mix_seconds,models,test_records,train_records");
    EXPECT_EQ(metrics_line(row), "7,1.5,,,,,,,,,0.25,0.5,,,,,last,all,1000");
    row.phases = RoundSeconds{1, 2, 3, 4};
    row.epsilon = infinity;
    row.stage = ModelStage::averaged;
    EXPECT_EQ(metrics_line(row), "7,,,,,,,,,,0.25,0.5,1,2,3,4,averaged,all,1000");
}

TEST(MetricColumns, HaveNamesOfTheirOwn) {
    std::set<std::string> names;
    for (const MetricColumn& column : metric_columns()) {
        EXPECT_TRUE(names.insert(column.name).second) << column.name;
        EXPECT_FALSE(std::string(column.chart).empty()) << column.name;
    }
    EXPECT_EQ(std::ranges::count(metrics_head(), ','), std::ssize(names) + 3);
}

TEST(ModelStages, HaveNames) {
    EXPECT_EQ(name_of(ModelStage::last), "last");
    EXPECT_EQ(name_of(ModelStage::averaged), "averaged");
    EXPECT_EQ(name_of(ModelStage::consensus), "consensus");
}

namespace fs = std::filesystem;

MetricsRow metrics_after(long round, double loss, ModelStage stage = ModelStage::last) {
    MetricsRow row{.round = round, .epsilon = infinity, .stage = stage};
    row.evaluation.test_loss = loss;
    return row;
}

/// What another reader, in Python, says of a run directory.
std::string read_elsewhere(const fs::path& run) {
    const std::string command =
        "python3 " SOTTO_SOURCE_DIR "/tests/store/tensorboard_check.py '" + run.string() + "' 2>&1";
    std::string said;
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return "no python3";
    for (int c = 0; (c = std::fgetc(pipe)) != EOF;) said += static_cast<char>(c);
    ::pclose(pipe);
    return said;
}

class TensorboardFileOf : public test::ResumableRun {
  protected:
    void SetUp() override {
        try {
            (void)TensorboardFile::create(folder.path("probe"), 0);
        } catch (const ConfigError& refusal) {
            expect_contains(refusal.what(), "libprotobuf-dev");
            GTEST_SKIP() << "built without Protocol Buffers";
        }
    }
    TrainConfig config(const std::string& name) const {
        TrainConfig result = ResumableRun::config(name);
        result.tensorboard = true;
        result.checkpoint_every = 10;
        result.evaluate_every = 4;
        result.plan.final_gossip = 1;
        return result;
    }
};

TEST_F(TensorboardFileOf, ARunHoldsItsMetrics) {
    (void)test::run(config("run"));
    EXPECT_EQ(read_elsewhere(path("run")), "1 files, 17 rows\n");
}

TEST_F(TensorboardFileOf, ARunThatDiedAndIsTakenUpHoldsEveryRoundOnce) {
    const TrainConfig first = config("run");
    test::run_until_killed(first, 27);
    // Of a process that is killed all records are whole.
    EXPECT_EQ(read_elsewhere(path("run")), "1 files, 7 rows\n");
    test::run_until_killed(test::resumed(first, path("run")), 35);
    EXPECT_EQ(read_elsewhere(path("run")), "2 files, 9 rows\n");
    (void)test::run(test::resumed(first, path("run")));
    EXPECT_EQ(read_elsewhere(path("run")).substr(0, 7), "3 files");
}

TEST_F(TensorboardFileOf, AStartSortsBehindThoseBeforeWhateverTheClockSays) {
    const fs::path events = folder.path("events");
    fs::create_directories(events);
    std::ofstream(events / "events.out.tfevents.4000000000.elsewhere") << "";
    std::ofstream(events / "notes.txt") << "mine";
    const fs::path second = TensorboardFile::create(events, 5).path();
    const fs::path third = TensorboardFile::create(events, 5).path();
    EXPECT_EQ(second.filename(), "events.out.tfevents.4000000001.sotto");
    EXPECT_EQ(third.filename(), "events.out.tfevents.4000000002.sotto");
    EXPECT_EQ(fs::status(second).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(TensorboardFileOf, EveryRowIsOneRecordThatIsThereAtOnce) {
    TensorboardFile file = TensorboardFile::create(folder.path("events"), 0);
    std::uintmax_t bytes = fs::file_size(file.path());
    EXPECT_GT(bytes, 0U);
    const auto content_after = [&](const MetricsRow& row) {
        const std::uintmax_t before = std::exchange(bytes, 0);
        file.add(row);
        bytes = fs::file_size(file.path());
        return read_file(file.path()).substr(before);
    };
    const std::string last = content_after(metrics_after(7, 0.25));
    EXPECT_EQ(static_cast<unsigned char>(last[0]), last.size() - 16);
    expect_contains(last, "loss/test_loss\x15");
    EXPECT_EQ(last.find("epsilon"), std::string::npos) << "it is infinite";
    expect_contains(content_after(metrics_after(7, 0.25, ModelStage::consensus)),
                    "loss/test_loss_consensus");
}

TEST_F(TensorboardFileOf, APlaceThatCannotBeWrittenIsNamed) {
    const std::string file = folder.write("in-the-way", "x");
    expect_contains(message_of<ConfigError>([&] { (void)TensorboardFile::create(file, 0); }), file);
}

}  // namespace
}  // namespace sotto
