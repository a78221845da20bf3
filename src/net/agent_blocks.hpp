#pragma once

#include <cstdint>

namespace sotto {

/// Which process hosts which agents: process p of P hosts agents [floor(p n / P), floor((p + 1) n /
/// P)) of n >= P.
class AgentBlocks {
  public:
    AgentBlocks(int agents, int processes) : agents_(agents), processes_(processes) {}

    [[nodiscard]] int agents() const { return agents_; }
    [[nodiscard]] int processes() const { return processes_; }
    [[nodiscard]] bool one_each() const { return agents_ == processes_; }
    [[nodiscard]] int first(int process) const {
        return static_cast<int>(std::int64_t{process} * agents_ / processes_);
    }
    [[nodiscard]] int size(int process) const { return first(process + 1) - first(process); }
    /// Most agents of a process.
    [[nodiscard]] int most() const { return (agents_ + processes_ - 1) / processes_; }
    [[nodiscard]] int process_of(int agent) const {
        return static_cast<int>(((std::int64_t{agent} + 1) * processes_ - 1) / agents_);
    }

  private:
    int agents_, processes_;
};

}  // namespace sotto
