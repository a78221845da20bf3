#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "core/bytes.hpp"
#include "core/stopwatch.hpp"
#include "net/network.hpp"
#include "options/option_parser.hpp"
#include "options/written_options.hpp"
#include "sotto/plan/membership.hpp"
#include "store/copies.hpp"

namespace sotto {

/// Trains on all agents of a network except spares (--spares), which wait. When agents leave or
/// join, training continues in a new phase. Reports on process 0. COLLECTIVE.
/// @return the exit code.  @throws as run_training, and ConfigError for agents that cannot leave.
[[nodiscard]] int train_on(Network& network,
                           const GeneralOptions& general,
                           const TrainConfig& config);

/// What this process was asked to train.
struct TrainSetup {
    TrainConfig config;
    GeneralOptions general;
    /// Files of the run that rank 0 had lost and got back; after a dry run they vanish with this.
    std::shared_ptr<RestoredFiles> restored;
};

/// Reads the options of a training, and in a resumed one also config.ini from rank 0. COLLECTIVE.
/// @param ranks lets processes agree on options before the agents are known.  @param alone this
/// process was not started by a launcher.  @param options of `sotto train`.
/// @throws ConfigError, NetworkError, the same on every process.
[[nodiscard]] TrainSetup read_train_setup(Network& ranks,
                                          const std::vector<std::string>& arguments,
                                          bool alone,
                                          const std::vector<WrittenGroup>& options);

/// Agents of a process that runs alone. LOCAL.
[[nodiscard]] int agents_alone(const TrainConfig& config);
/// Agents of all ranks; in a resumed run rank 0 determines them. COLLECTIVE.
[[nodiscard]] int agents_of_ranks(Network& ranks, const TrainConfig& config);

/// From now on SIGUSR2 means that all agents of this process leave the run.
void watch_for_leaving();

/// Checks for an event at most five times a second.
class SeldomLook {
  public:
    [[nodiscard]] bool due();

  private:
    std::optional<Clock::time_point> looked_;
};

/// Which local agents are asked to leave during the run.
class LeaveRequests {
  public:
    /// @param file whose appearance asks an agent to leave; %r is its number; may be empty.
    explicit LeaveRequests(std::string file) : file_(std::move(file)) {}

    /// Numbers of the local agents asked to leave. LOCAL.
    [[nodiscard]] const std::vector<int>& of(const Network& network, const Membership& members);

  private:
    std::string file_;
    std::vector<int> asked_;
    SeldomLook look_;
};

/// Which spares are asked to join, according to agent 0's process.
class JoinRequests {
  public:
    /// @param file whose appearance asks a spare to join; %r is its number; may be empty.
    /// @param waiting numbers of the waiting spares.
    JoinRequests(std::string file, std::vector<int> waiting)
        : file_(std::move(file)), waiting_(std::move(waiting)) {}

    /// Numbers, ascending. LOCAL.
    [[nodiscard]] const std::vector<int>& of(const Network& network);

  private:
    std::string file_;
    std::vector<int> waiting_, asked_;
    SeldomLook look_;
};

/// Agents that leave and join when a run continues: numbers, ascending.
struct MemberChange {
    std::vector<int> leaving, joining;
    [[nodiscard]] bool none() const { return leaving.empty() && joining.empty(); }
};

/// Encodes agents' numbers for a message.
void put_numbers(ByteWriter& writer, const std::vector<int>& numbers);
/// @throws NetworkError, of the reader, unless they ascend.
[[nodiscard]] std::vector<int> get_numbers(ByteReader& reader);

/// Collects the numbers of agents that leave, from every process, and of those that join, from
/// process 0. COLLECTIVE, after a stop.
/// @param own requests to this process.  @param waiting spares, the same on every process.
/// @param stopped whether this process was asked to stop the whole run.
/// @return nothing if the run stops for other reasons, or every agent leaves.
/// @throws ConfigError, the same on every process, if agent 0, whose process leads the run, is
/// asked to leave, or processes host several agents; NetworkError for invalid numbers.
[[nodiscard]] MemberChange agree_on_change(Network& network,
                                           const Membership& members,
                                           const std::vector<int>& waiting,
                                           const MemberChange& own,
                                           bool stopped);

/// Which agents of a network participate in a run, and which wait (--spares).
class Attendance {
  public:
    /// COLLECTIVE: in a resumed run, process 0 determines who has joined.
    /// @throws ConfigError for impossible spares; DataError for an unreadable run; NetworkError for
    /// an agent that only rank 0 declares waiting, or an invalid message.
    Attendance(Network& network, const TrainConfig& config);

    /// Numbers, ascending.
    [[nodiscard]] const std::vector<int>& waiting() const { return waiting_; }
    /// Places of the spares among all.
    [[nodiscard]] std::vector<int> waiting_places() const { return everybody().places(waiting_); }
    /// Places of the leaving agents among all. @param members who participated.
    [[nodiscard]] std::vector<int> places_of(const std::vector<int>& leaving,
                                             const Membership& members) const {
        return waiting_.empty() ? members.places(leaving) : everybody().places(leaving);
    }
    void change(const MemberChange& change);

  private:
    /// On process 0. If the spares were not started, nobody waits.
    void find(const Network& network, const TrainConfig& config);
    void require_possible(const Network& network, const TrainConfig& config) const;
    void require_own_word(const Network& network, const TrainConfig& config) const;
    /// Members and spares, by place in the network.
    [[nodiscard]] Membership everybody() const;

    std::vector<int> waiting_, members_;  // numbers; both empty if nobody waits
};

/// How a phase of a training ended, as seen by one process.
struct PhaseEnd {
    int exit_code = 0;
    MemberChange change{};        ///< none: the run ends
    Membership members{};         ///< who participated
    std::string run_directory{};  ///< of the run
};

/// Tells spares how a phase ended. COLLECTIVE over participants and spares.
/// @param own of a process that participated, which keeps it whatever rank 0 tells spares. None if
/// its agent waits: such a process relies on rank 0's message, which can only let waiting agents
/// join.  @param waiting their numbers, ascending, as this process knows them.
/// @throws NetworkError for an invalid message, or one that lets other agents join.
[[nodiscard]] PhaseEnd share_end(Network& everybody,
                                 const std::optional<PhaseEnd>& own,
                                 const std::vector<int>& waiting);

}  // namespace sotto
