#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/core/stopwatch.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/membership.hpp"

namespace sotto::cli {

/// From now on SIGUSR2 says that all agents of this process leave the run.
void watch_for_leaving();

/// Which of this process's agents are asked to leave while the run goes on.
class LeaveRequests {
  public:
    /// @param file whose appearance says that an agent leaves; %r is its number; may be empty.
    explicit LeaveRequests(std::string file) : file_(std::move(file)) {}

    /// Numbers of the local agents that are asked to leave. LOCAL. Files are looked for five times
    /// a second at most.
    [[nodiscard]] const std::vector<int>& of(const Network& network, const Membership& members);

  private:
    std::string file_;
    std::vector<int> asked_;
    std::optional<Clock::time_point> looked_;
};

/// Numbers of all agents that leave now: those asked to on any process, where some are left and a
/// process can go on without them. COLLECTIVE, after a stop.
/// @param own of this process.  @param stopped whether it was asked to stop altogether.
/// @return empty where the run stops for other reasons, or everybody leaves.
/// @throws ConfigError, the same on every process, where agent 0's process is asked to leave, which
/// leads the run, or processes host several agents.
[[nodiscard]] std::vector<int> agree_on_leaving(Network& network,
                                                const Membership& members,
                                                const std::vector<int>& own,
                                                bool stopped);

}  // namespace sotto::cli
