#pragma once

// Recordings of a short run of production parts, with the seeds of all agents.

#include <filesystem>
#include <string>
#include <vector>

#include "agent/bootstrap.hpp"
#include "agent/recording/recorded_wire.hpp"
#include "core/temporary_folder.hpp"
#include "learn/test_data.hpp"
#include "mpi/recording_fixtures.hpp"
#include "net/memory_network.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto::test {

/// What agents 1 and 3 are sent.
inline const View pair_view{View::Kind::neighbours, {1, 3}};

/// Agents record what they see, hold and send in a folder of their own.
class RecordingRun {
  public:
    static constexpr int agents = 5;

    explicit RecordingRun(const RecordedCase& entry) {
        const auto network = make_memory_network(agents, 1);
        NoiseRun run;
        run.rounds = 3;
        run.dimension = 24;
        made_ = record_run(*network, entry, views(), run);
        rings_ = distribute_seeds(*network, made_->plan, run.noise_seed);
        for (const KeyRing& ring : rings_) record_seeds(views(), made_->plan, ring);
        process_.graph = &graph();
        process_.plan = &plan();
        process_.phases = {
            {.rounds = run.rounds, .mixing = made_->topography.schedule(), .departed = {}}};
        process_.gossip = made_->run.gossip;
        process_.step_sizes.assign(static_cast<std::size_t>(run.rounds), made_->run.step_size);
    }
    RecordingRun(const RecordingRun&) = delete;
    RecordingRun& operator=(const RecordingRun&) = delete;

    [[nodiscard]] std::filesystem::path views() const { return folder_.path("views"); }
    [[nodiscard]] const RecordedRun& made() const { return *made_; }
    [[nodiscard]] const Graph& graph() const { return made_->topography.graph; }
    [[nodiscard]] const NoisePlan& plan() const { return made_->plan; }
    [[nodiscard]] std::vector<KeyRing>& rings() { return rings_; }
    /// As its plan says.
    [[nodiscard]] const MessageProcess& process() const { return process_; }
    [[nodiscard]] RecordedView view_of(int agent) const {
        return read_recorded_view(view_file(views(), agent));
    }

  private:
    test::TemporaryFolder folder_;
    std::optional<RecordedRun> made_;
    std::vector<KeyRing> rings_;
    MessageProcess process_;
};

}  // namespace sotto::test
