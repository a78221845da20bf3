#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/fault.hpp"
#include "simulation/schedule.hpp"

namespace sotto::simulation {

/// How a start ended for a rank.
enum class Ending : std::uint8_t {
    finished,
    stopped_cleanly,
    refused,
    ended_by_others,
    gone,
    count
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Ending::count)> ending_names{
    "finished",
    "stopped cleanly",
    "ended with a named reason",
    "ended by the launcher",
    "crashed or stopped"};

struct ScheduleResult {
    std::vector<std::string> violations;
    std::array<long, static_cast<std::size_t>(FaultKind::count)> fired{};  ///< schedules' faults
    std::array<long, static_cast<std::size_t>(Ending::count)> endings{};   ///< of ranks
    std::vector<std::string> lines;                                        ///< of ranks, in order
    long starts = 0, resumed = 0, old_disks = 0, departures = 0;
    long lost_disks = 0, came_back = 0;  ///< of hosts, and of these how many took part again
    bool completed = false, compared = false;
    std::uint64_t digest = 0;  ///< of everything that happened
};

/// What a test puts in the way of the program, to see that it is found.
enum class Planted : std::uint8_t {
    nothing,
    noise_again,
    plain_text,
    small_ledger,
    endless_wait,
    silent_end
};

struct RunOptions {
    bool trace = false;  ///< print everything that happens
    Planted planted = Planted::nothing;
    /// Of the first start, instead of those of the seed; no launcher attends to it.
    std::optional<std::vector<Fault>> faults{};
    /// Hosts that lose their disks before the second start, beside those that the seed draws.
    std::vector<int> lost{};
};

/// @param folder of the schedule only; it is gone afterwards.
[[nodiscard]] ScheduleResult run_schedule(std::uint64_t seed,
                                          const std::string& folder,
                                          const RunOptions& options = {});

}  // namespace sotto::simulation
