#pragma once

#include <semaphore.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "simulation/fault.hpp"
#include "simulation/random.hpp"

namespace sotto::simulation {

/// Handed from thread to thread. (std::binary_semaphore yields the core to others first.)
class Baton {
  public:
    Baton() { ::sem_init(&semaphore_, 0, 0); }
    ~Baton() { ::sem_destroy(&semaphore_); }
    Baton(const Baton&) = delete;
    Baton& operator=(const Baton&) = delete;
    void release() { ::sem_post(&semaphore_); }
    void acquire() {
        while (::sem_wait(&semaphore_) != 0) {
        }
    }

  private:
    sem_t semaphore_;
};

enum class RankState : std::uint8_t { ready, waiting, ended, dead, stopped };
/// Why a rank is dead.
enum class Death : std::uint8_t { none, crashed, aborted, killed };

/// One simulated process: a thread that runs only while it has the baton.
struct Rank {
    int place = 0;   ///< in this job
    int number = 0;  ///< of its agent: whose host and disk it has
    RankState state = RankState::ready;
    Death death = Death::none;
    double wake = 0;     ///< while it waits
    bool heard = false;  ///< a message arrived since
    bool deviates = false;
    int exit_code = -1;
    long calls = 0;                              ///< to the world, so far: where it may fail
    long writes = 0;                             ///< of these: to its disk
    long calls_before = -1, writes_before = -1;  ///< its first exchange; -1: it has had none
    int idle_tests = 0;
    double patience = 0;     ///< seconds to its next look around
    std::string lines;       ///< standard error
    std::vector<int> files;  ///< open descriptors
    Baton go;
    std::thread thread;
};

/// How many calls of the rank, or writes, the fault counts before the one with this number;
/// -1: it does not count them yet.
[[nodiscard]] long counted(const Fault& fault, const Rank& rank, long number);

/// How a job is run.
struct WorldOptions {
    std::uint64_t seed = 0;
    std::vector<int> numbers;          ///< agents, one a rank
    std::vector<std::string> folders;  ///< where each starts: its disk
    std::vector<Fault> faults;
    bool launcher_attends = true;  ///< ends the job when one rank fails
    double limit_seconds = 0;      ///< nobody may still wait then
    bool trace = false;
};

/// All ranks of one start of a job, the order in which they run, and their clock.
class World {
  public:
    explicit World(WorldOptions options);
    /// Runs body(place) on every rank until all have ended, died or stopped for good.
    /// @return why not, if time went by without an end; else "".
    std::string run(const std::function<int(int place)>& body);

    [[nodiscard]] const WorldOptions& options() const { return options_; }
    [[nodiscard]] std::vector<std::unique_ptr<Rank>>& ranks() { return ranks_; }
    [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
    [[nodiscard]] double now() const { return now_; }
    /// Virtual time goes on a little with everything a rank does.
    void tick() { now_ += 1e-6; }

    /// A call of the rank that has the baton: where it fails, if it is to.
    void call(const char* what);
    /// Waits until a message arrives, `seconds` have gone by, or both.
    void wait(double seconds, bool for_messages);
    /// The rank that has the baton is gone.
    [[noreturn]] void die(Death why);
    /// All others follow, if somebody attends to them.
    void end_job();

    /// Something will arrive at `time`.
    void announce(int to, double time);
    void trace(const std::string& line);
    /// Of everything that happened: the same for the same seed.
    [[nodiscard]] std::uint64_t digest() const { return digest_; }
    [[nodiscard]] long steps() const { return steps_; }
    [[nodiscard]] std::vector<long>& fired() { return fired_; }

    /// Called for a rank whose host has lost its power, and at every step.
    std::function<void(const Rank&)> on_power_loss;
    std::function<void()> on_step;

  private:
    void give_baton(Rank& rank);
    void hand_back();
    [[nodiscard]] Rank* next();
    [[nodiscard]] bool advance();
    void fail(const Fault& fault, Rank& rank);
    void kill_others();
    void close_files(Rank& rank);

    WorldOptions options_;
    Random random_;
    std::vector<std::unique_ptr<Rank>> ranks_;
    Baton back_;
    double now_ = 1000;
    double kill_at_ = 0;  // 0: not
    std::multimap<double, int> arrivals_;
    std::vector<long> fired_;
    std::uint64_t digest_ = 0;
    long steps_ = 0;
};

/// Of this process; null outside a job.
[[nodiscard]] World* world();
void set_world(World* world);
/// The rank that this thread is; null for other threads.
[[nodiscard]] Rank* current();

}  // namespace sotto::simulation
