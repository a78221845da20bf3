#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/core/bytes.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/membership.hpp"

namespace sotto {

/// From now on SIGUSR2 says that all agents of this process leave the run.
void watch_for_leaving();

/// Whether something happened, asked five times a second at most.
class SeldomLook {
  public:
    [[nodiscard]] bool due();

  private:
    std::optional<Clock::time_point> looked_;
};

/// Which of this process's agents are asked to leave while the run goes on.
class LeaveRequests {
  public:
    /// @param file whose appearance says that an agent leaves; %r is its number; may be empty.
    explicit LeaveRequests(std::string file) : file_(std::move(file)) {}

    /// Numbers of the local agents that are asked to leave. LOCAL.
    [[nodiscard]] const std::vector<int>& of(const Network& network, const Membership& members);

  private:
    std::string file_;
    std::vector<int> asked_;
    SeldomLook look_;
};

/// Which spares are asked to join, as the process of agent 0 sees it.
class JoinRequests {
  public:
    /// @param file whose appearance says that a spare joins; %r is its number; may be empty.
    /// @param waiting numbers of the spares that wait.
    JoinRequests(std::string file, std::vector<int> waiting)
        : file_(std::move(file)), waiting_(std::move(waiting)) {}

    /// Numbers, ascending. LOCAL.
    [[nodiscard]] const std::vector<int>& of(const Network& network);

  private:
    std::string file_;
    std::vector<int> waiting_, asked_;
    SeldomLook look_;
};

/// Who leaves and who joins where a run goes on: numbers, ascending.
struct MemberChange {
    std::vector<int> leaving, joining;
    [[nodiscard]] bool none() const { return leaving.empty() && joining.empty(); }
};

/// Agents' numbers in what processes tell each other.
void put_numbers(ByteWriter& writer, const std::vector<int>& numbers);
/// @throws NetworkError, of the reader, unless they ascend.
[[nodiscard]] std::vector<int> get_numbers(ByteReader& reader);

/// Numbers of all agents that leave and join now: those that leave were asked to on any process,
/// those that join on process 0. COLLECTIVE, after a stop.
/// @param own what this process was asked.  @param waiting spares, the same on every process.
/// @param stopped whether it was asked to stop altogether.
/// @return nothing where the run stops for other reasons, or everybody leaves.
/// @throws ConfigError, the same on every process, where agent 0's process is asked to leave, which
/// leads the run, or processes host several agents; NetworkError for numbers that cannot be.
[[nodiscard]] MemberChange agree_on_change(Network& network,
                                           const Membership& members,
                                           const std::vector<int>& waiting,
                                           const MemberChange& own,
                                           bool stopped);

}  // namespace sotto
