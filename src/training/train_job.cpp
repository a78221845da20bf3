#include "training/train_job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/output.hpp"
#include "sotto/core/error.hpp"
#include "store/run_directory.hpp"
#include "training/attendance.hpp"
#include "training/job.hpp"
#include "training/member_requests.hpp"
#include "training/phase_end.hpp"
#include "training/progress.hpp"
#include "training/stop_signal.hpp"
#include "training/train_report.hpp"
#include "training/training.hpp"
#include "training/training_summary.hpp"

namespace sotto {

namespace {

/// Shows a training, and knows who takes part and who of them is asked to leave or to join.
class WatchedTraining final : public Progress {
  public:
    WatchedTraining(std::FILE* report,
                    Network& network,
                    const TrainConfig& config,
                    const std::vector<int>& waiting)
        : Progress(report),
          network_(network),
          leave_(config.leave_file.value_or("")),
          join_(config.join_file.value_or(""), waiting) {}
    void on_members(const Membership& members) override { members_ = members; }

    [[nodiscard]] const Membership& members() const { return members_; }
    /// What this process was asked. LOCAL.
    [[nodiscard]] MemberChange asked() {
        return {leave_.of(network_, members_), join_.of(network_)};
    }

  private:
    Network& network_;
    LeaveRequests leave_;
    JoinRequests join_;
    Membership members_;
};

void say_who_changes(const GeneralOptions& general, const MemberChange& change, long round) {
    std::FILE* report = report_stream(general);
    if (report == nullptr) return;
    const auto tell = [&](const std::vector<int>& who, std::string_view does) {
        if (!who.empty())
            say(report,
                "agent{} {} {}{} after round {}; the others go on\n",
                who.size() == 1 ? "" : "s",
                fmt::join(who, ", "),
                does,
                who.size() == 1 ? "s" : "",
                round);
    };
    tell(change.leaving, "leave");
    tell(change.joining, "join");
}

/// Of those who take part. COLLECTIVE. @param waiting spares.
PhaseEnd train_phase(Network& network,
                     const GeneralOptions& general,
                     const TrainConfig& config,
                     const std::vector<int>& waiting) {
    const bool leader = network.process() == 0;
    std::FILE* report = leader ? report_stream(general) : nullptr;
    WatchedTraining progress(report, network, config, waiting);
    network.agree([&] {
        if (leader) require_json_writable(general);
    });
    if (report != nullptr && config.verbose && network.processes() == 1 && network.agents() > 1)
        say(report,
            "all {} agents run in this process; `mpirun -n {} sotto train ...` gives each "
            "its own\n",
            network.agents(),
            network.agents());
    watch_for_leaving();
    const auto stops = [&] { return stop_requested() || !progress.asked().none(); };
    const TrainResult result = run_training(config, network, progress, stops);
    progress.finish();
    if (result.interrupted) {
        MemberChange change = agree_on_change(
            network, progress.members(), waiting, progress.asked(), stop_requested());
        if (!change.none()) {
            if (leader) say_who_changes(general, change, result.rounds);
            return {0, std::move(change), progress.members(), result.run_directory};
        }
    }
    if (leader) {
        write_json(general, summary_json(result, config.plan));
        tell_result(report, result, config);
    }
    return {static_cast<int>(result.interrupted ? ExitCode::interrupted : ExitCode::ok)};
}

/// One phase of those who take part, while spares wait. COLLECTIVE over all.
PhaseEnd phase_beside_spares(Network& everybody,
                             const Attendance& there,
                             const GeneralOptions& general,
                             const TrainConfig& config) {
    std::optional<PhaseEnd> end;
    if (const auto members = everybody.without(there.waiting_places())) {
        const int code = run_together(*members, [&] {
            end = train_phase(*members, general, config, there.waiting());
            return end->exit_code;
        });
        // Spares hear of a failure as of any other end.
        if (!end) end = PhaseEnd{code};
    } else {
        // Until those who take part have stopped.
        watch_for_stop();
        constexpr double between_looks = 0.05;
        everybody.watch_for_stalls({0, 0, "", {}, between_looks});
    }
    return share_end(everybody, end, there.waiting());
}

}  // namespace

int train_on(Network& network, const GeneralOptions& general, const TrainConfig& config) {
    watch_for_leaving();
    TrainConfig now = config;
    Attendance there(network, now);
    Network* all = &network;
    std::unique_ptr<Network> rest;
    for (;;) {
        end_when_stopped();
        const auto phase = [&] {
            return there.waiting().empty() ? train_phase(*all, general, now, {})
                                           : phase_beside_spares(*all, there, general, now);
        };
        PhaseEnd end;
        if (rest == nullptr) {
            end = phase();
        } else {
            const int code = run_together(*all, [&] {
                end = phase();
                return end.exit_code;
            });
            if (code != end.exit_code) return code;
        }
        if (end.change.none()) return end.exit_code;
        if (!end.change.leaving.empty()) {
            std::unique_ptr<Network> staying =
                all->without(there.places_of(end.change.leaving, end.members));
            if (!staying) return static_cast<int>(ExitCode::ok);
            rest = std::move(staying);
            all = rest.get();
        }
        there.change(end.change);
        now.resume = ResumeConfig{
            own_directory(config.resume ? std::optional(config.resume->directory) : std::nullopt,
                          config.run_directory,
                          end.run_directory)
                .string(),
            end.change.leaving,
            end.change.joining};
    }
}

}  // namespace sotto
