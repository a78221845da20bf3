#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulation/fault.hpp"
#include "simulation/random.hpp"

namespace sotto::simulation {

/// One start of the job of a schedule.
struct Start {
    std::vector<int> numbers;     ///< agents that take part, ascending
    std::vector<int> leaving;     ///< of those before
    std::vector<int> old_disks;   ///< hosts whose disk is put back to what it was
    std::vector<int> lost_disks;  ///< hosts whose run directory is gone
    long snapshot_step = 0;       ///< when a copy of all disks is kept
    std::vector<Fault> faults;
    bool launcher_attends = true;
};

/// What a seed stands for: a job, and how its starts go wrong.
class Schedule {
  public:
    explicit Schedule(std::uint64_t seed);

    [[nodiscard]] std::uint64_t seed() const { return seed_; }
    [[nodiscard]] int agents() const { return agents_; }
    [[nodiscard]] int gossip_steps() const { return gossip_steps_; }
    [[nodiscard]] bool link_encryption() const { return link_encryption_; }
    [[nodiscard]] bool reproducible() const { return reproducible_; }
    [[nodiscard]] bool identities() const { return identities_; }
    [[nodiscard]] bool shared_disk() const { return shared_disk_; }
    [[nodiscard]] bool faultless() const { return faultless_; }
    [[nodiscard]] const std::string& mechanism() const { return mechanism_; }
    /// Whether rounds go on without late messages.
    [[nodiscard]] bool has_deadline() const { return !late_.empty(); }
    [[nodiscard]] bool has_lies() const { return !lies_.empty(); }

    /// `sotto` ... of a new run, and of one that is resumed.
    [[nodiscard]] std::vector<std::string> arguments() const;
    [[nodiscard]] std::vector<std::string> arguments(const Start& resumed) const;
    /// In one process, the same training.
    [[nodiscard]] std::vector<std::string> reference_arguments() const;

    /// The first start, or one after `before`. Call in order.
    [[nodiscard]] Start first_start();
    /// @param lost hosts that lose their disks, beside those that the seed draws.
    [[nodiscard]] Start next_start(const Start& before, const std::vector<int>& lost = {});
    /// Whether to go on after a start that did not complete the run.
    [[nodiscard]] bool goes_on() { return random_.chance(0.9); }
    [[nodiscard]] std::string description() const;

  private:
    void draw_job();
    [[nodiscard]] bool plain_gossip() const;
    void draw_deadline(Random random);
    void draw_lies(Random random);
    void draw_losses(Start& start);
    [[nodiscard]] std::vector<Fault> draw_faults(int ranks);
    [[nodiscard]] Fault draw_fault(int ranks);

    std::uint64_t seed_;
    Random random_;
    Random
        losses_;  // a stream of its own: without losses a seed is what it was before there were any
    bool lost_any_ = false;
    int agents_ = 3, gossip_steps_ = 1;
    long rounds_ = 4, checkpoint_every_ = 1, evaluate_every_ = 1;
    bool link_encryption_ = true, reproducible_ = false, identities_ = false, shared_disk_ = true,
         faultless_ = false, secure_sum_ = false, distributed_ = false, cyclic_ = false;
    std::string mechanism_, topology_, task_, schedule_;
    std::vector<std::string> late_;  // options of rounds that go on
    std::vector<std::string> lies_;  // of those in which an agent lies
};

inline constexpr double stall_abort_seconds = 4;

}  // namespace sotto::simulation
