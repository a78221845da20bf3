#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/run_fixtures.hpp"
#include "training/prepare_run.hpp"
#include "training/training.hpp"

namespace sotto::test {

struct Watcher final : TrainingListener {
    void on_start(const TrainingStart& start) override {
        starts += 1;
        mechanism = start.planned.design.plan.mechanism;
        task = start.task;
        report = start.report;
        outline = start.outline;
        warnings = start.warnings;
        estimated = start.estimate != nullptr;
    }
    void on_round(long now, long of, const Ledger&) override {
        EXPECT_EQ(now, completed + 1);
        completed = now;
        rounds = of;
    }
    void on_evaluation(long round, double epsilon, const Evaluation&) override {
        EXPECT_EQ(round, completed);
        evaluated.push_back(round);
        epsilons.push_back(epsilon);
    }
    int starts = 0;
    std::string mechanism, task, report, outline;
    std::vector<std::string> warnings;
    bool estimated = false;
    long completed = 0, rounds = 0;
    std::vector<long> evaluated;
    std::vector<double> epsilons;
};

inline TrainResult train(const TrainConfig& config,
                         Watcher& watcher,
                         const std::function<bool()>& stop) {
    const auto network = make_memory_network(config.graph.topology.agents, config.threads);
    return run_training(config, *network, watcher, stop);
}
inline TrainResult train(const TrainConfig& config) {
    Watcher watcher;
    return train(config, watcher, [] { return false; });
}

inline std::vector<std::vector<std::string>> read_metrics(const std::filesystem::path& directory) {
    std::ifstream file(directory / "metrics.csv");
    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(file, line);) {
        auto& row = rows.emplace_back();
        for (std::size_t begin = 0; begin <= line.size();) {
            const std::size_t end = std::min(line.find(',', begin), line.size());
            row.push_back(line.substr(begin, end - begin));
            begin = end + 1;
        }
    }
    return rows;
}

/// All rounds of a run.
inline void train_rounds(OpenRun& run, TrainingListener& listener) {
    const std::function<bool()> never = [] { return false; };
    TrainingRounds rounds(run, listener, never);
    while (rounds.more()) rounds.run_next();
    rounds.finish();
}

/// A run of agents of this process, before anything is written.
inline PreparedRun prepare(const TrainConfig& config,
                           Network& network,
                           const std::function<LocalTask()>& make_task = {}) {
    TrainingListener nobody;
    return prepare_run(config, network, make_task, nobody);
}

}  // namespace sotto::test
