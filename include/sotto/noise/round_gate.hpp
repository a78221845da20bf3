#pragma once

#include <cstdint>
#include <memory>

namespace sotto {

/// Lets rounds of noise begin: every (key epoch, round) once, in ascending order, one at a time,
/// and only in the process that made the gate. Noise that left twice would cancel in the difference
/// of two messages, and a process that was forked has the same keys, so it would draw the same
/// noise. Thread-safe; movable; what it was moved from lets nothing in.
class RoundGate {
  public:
    /// @param subject of error messages, which lives as long: "training", "noise".
    explicit RoundGate(const char* subject);
    RoundGate(RoundGate&&) noexcept;
    RoundGate& operator=(RoundGate&&) noexcept;
    ~RoundGate();

    struct State;
    struct Leave {
        void operator()(State* state) const noexcept;
    };
    /// While it lives nobody else enters. It must not outlive the gate.
    using Stay = std::unique_ptr<State, Leave>;

    /// @throws PrivacyError in another process than the gate's, or while somebody is in, who may be
    /// the caller. Cost: a system call.
    [[nodiscard]] Stay enter() const;
    /// Whether this process is the one that made it, and it was not moved from.
    [[nodiscard]] bool in_its_process() const noexcept;
    /// Begins a round, of whoever has entered. Rounds may be left out.
    /// @throws PrivacyError unless (epoch, round) is above all that began before.
    void begin(std::uint32_t epoch, std::uint64_t round);

  private:
    std::unique_ptr<State> state_;
};

}  // namespace sotto
