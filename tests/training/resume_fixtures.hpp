#pragma once

#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "config/run_fixtures.hpp"
#include "trust/identity.hpp"

namespace sotto::test {

namespace fs = std::filesystem;

inline constexpr int agents = 6;
inline constexpr long rounds = 60;

/// What a killed process looks like from the inside: nothing after this is done.
struct Killed : std::runtime_error {
    Killed() : std::runtime_error("killed") {}
};

/// Stops, or dies, once so many rounds are done.
struct Fate final : TrainingListener {
    void on_start(const TrainingStart& start) override { report = start.report; }
    void on_evaluation(long, double, const Evaluation&) override {
        if (on_evaluations) on_evaluations();
    }
    void on_round(long done, long, const Ledger&) override {
        completed = done;
        if (die_after > 0 && done == die_after) throw Killed();
        if (stop_after == 0) return;
        stop = done >= stop_after;
        // Agents agree to stop about ten times a second.
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    long stop_after = 0, die_after = 0, completed = 0;
    bool stop = false;
    std::function<void()> on_evaluations;
    std::string report;
};

inline TrainResult run(const TrainConfig& config, Fate& fate, int there = agents) {
    const auto network = make_memory_network(there, 1);
    return run_training(config, *network, fate, [&] { return fate.stop; });
}
inline TrainResult run(const TrainConfig& config, int there = agents) {
    Fate fate;
    return run(config, fate, there);
}
inline TrainResult run_until_stopped(const TrainConfig& config, long after) {
    Fate fate;
    fate.stop_after = after;
    const TrainResult result = run(config, fate);
    EXPECT_TRUE(result.interrupted);
    EXPECT_GE(result.rounds, after);
    EXPECT_LT(result.rounds, rounds);
    return result;
}
inline void run_until_killed(const TrainConfig& config, long after, int there = agents) {
    Fate fate;
    fate.die_after = after;
    EXPECT_THROW((void)run(config, fate, there), Killed);
}

inline TrainConfig resumed(TrainConfig config,
                           const std::string& directory,
                           std::vector<int> without = {}) {
    config.resume = ResumeConfig{directory, std::move(without)};
    return config;
}

inline Eigen::MatrixXd models_of(const fs::path& directory) {
    return models_of(directory, Membership::everybody(agents).numbers);
}

/// Runs in a folder that goes with the test.
class ResumableRun : public ::testing::Test {
  protected:
    TrainConfig config(const std::string& name, const std::string& mechanism = "pairs") const {
        TrainConfig result = logistic_config(folder, agents, mechanism, rounds);
        result.run_directory = folder.path(name);
        return result;
    }
    std::string path(const std::string& name) const { return folder.path(name); }
    Json ledger(const std::string& name) const {
        return read_json(fs::path(folder.path(name)) / "ledger.json");
    }
    /// Fresh keys from the operating system, kept for identities.
    void give_identities(TrainConfig& config) const {
        const fs::path roster = fs::path(folder.path("roster"));
        if (!fs::exists(roster))
            for (int u = 0; u < agents; ++u)
                (void)enroll(fs::path(folder.path("id" + std::to_string(u))),
                             roster,
                             "agent" + std::to_string(u));
        config.trust = TrustConfig{roster.string(), (fs::path(folder.path("id%r"))).string()};
        config.noise_seed.reset();
    }
    TemporaryFolder folder;
};

}  // namespace sotto::test
