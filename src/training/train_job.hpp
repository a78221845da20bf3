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

/// A training on any network: on all its agents, or on those of them that are no spares
/// (--spares), which wait. Where agents leave or join it goes on with the others in a new phase.
/// Reports on process 0. COLLECTIVE.
/// @return the exit code.  @throws as run_training, and ConfigError for agents that cannot leave.
[[nodiscard]] int train_on(Network& network,
                           const GeneralOptions& general,
                           const TrainConfig& config);

/// What a training was asked for, by every process for itself.
struct TrainSetup {
    TrainConfig config;
    GeneralOptions general;
    /// What rank 0 had lost of the run and was given back; gone with this after a dry run.
    std::shared_ptr<RestoredFiles> restored;
};

/// Reads the options of a training; of one that is resumed, config.ini as rank 0 has it, beside
/// them. COLLECTIVE. @param ranks where processes agree about options, before anybody knows about
/// agents.  @param alone whether this process was started by itself.
/// @param options of `sotto train`.
/// @throws ConfigError, NetworkError, the same on every process.
[[nodiscard]] TrainSetup read_train_setup(Network& ranks,
                                          const std::vector<std::string>& arguments,
                                          bool alone,
                                          const std::vector<WrittenGroup>& options);

/// Agents of this process, where it is alone. LOCAL.
[[nodiscard]] int agents_alone(const TrainConfig& config);
/// Agents of all ranks; of a run that is resumed rank 0 knows them. COLLECTIVE.
[[nodiscard]] int agents_of_ranks(Network& ranks, const TrainConfig& config);

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

/// Who of a network's agents takes part in a run, and which of them wait (--spares).
class Attendance {
  public:
    /// COLLECTIVE: where a run is resumed, process 0 knows who has joined.
    /// @throws ConfigError for spares that cannot be, DataError for a run that cannot be read;
    /// NetworkError for an agent that is to wait by rank 0's word alone, or a word that is none.
    Attendance(Network& network, const TrainConfig& config);

    /// Numbers, ascending.
    [[nodiscard]] const std::vector<int>& waiting() const { return waiting_; }
    /// Places of the spares among all.
    [[nodiscard]] std::vector<int> waiting_places() const { return everybody().places(waiting_); }
    /// Places of those that leave among all. @param members who took part.
    [[nodiscard]] std::vector<int> places_of(const std::vector<int>& leaving,
                                             const Membership& members) const {
        return waiting_.empty() ? members.places(leaving) : everybody().places(leaving);
    }
    void change(const MemberChange& change);

  private:
    /// On process 0. Where the spares were not started nobody waits.
    void find(const Network& network, const TrainConfig& config);
    void require_possible(const Network& network, const TrainConfig& config) const;
    void require_own_word(const Network& network, const TrainConfig& config) const;
    /// Members and spares, by place in the network.
    [[nodiscard]] Membership everybody() const;

    std::vector<int> waiting_, members_;  // numbers; both empty where nobody waits
};

/// How a phase of a training ended, as one process knows it.
struct PhaseEnd {
    int exit_code = 0;
    MemberChange change{};        ///< none: the run ends
    Membership members{};         ///< who took part
    std::string run_directory{};  ///< of the run
};

/// Tells spares how a phase ended. COLLECTIVE over those who took part and those who wait.
/// @param own of a process that took part: it keeps what it knows, whatever rank 0 tells spares.
/// None where its agent waits: it has nothing but rank 0's word, by which only agents that wait can
/// join.  @param waiting numbers of those, ascending, as this process knows them.
/// @throws NetworkError for a word that is none, or lets others join.
[[nodiscard]] PhaseEnd share_end(Network& everybody,
                                 const std::optional<PhaseEnd>& own,
                                 const std::vector<int>& waiting);

}  // namespace sotto
