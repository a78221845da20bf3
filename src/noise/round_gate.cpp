#include "sotto/noise/round_gate.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <utility>

#include "sotto/core/error.hpp"

namespace sotto {

struct RoundGate::State {
    const char* subject;
    pid_t process = getpid();
    std::atomic<bool> taken = false;
    std::optional<std::pair<std::uint32_t, std::uint64_t>> last = std::nullopt;
};

RoundGate::RoundGate(const char* subject) : state_(std::make_unique<State>(subject)) {}
RoundGate::RoundGate(RoundGate&&) noexcept = default;
RoundGate& RoundGate::operator=(RoundGate&&) noexcept = default;
RoundGate::~RoundGate() = default;

bool RoundGate::in_its_process() const noexcept { return state_ && state_->process == getpid(); }

void RoundGate::Leave::operator()(State* state) const noexcept { state->taken = false; }

RoundGate::Stay RoundGate::enter() const {
    if (!state_) throw PrivacyError("a gate of rounds was moved, and lets nothing in");
    if (const pid_t here = getpid(); here != state_->process)
        throw PrivacyError(
            fmt::format("{}: process {} is not allowed ({}, which made it: a process that was "
                        "forked has the same keys and would draw the same noise; fork first, then "
                        "make it)",
                        state_->subject,
                        here,
                        state_->process));
    if (state_->taken.exchange(true))
        throw PrivacyError(
            fmt::format("{}: a call is not allowed while another one is under way (one at a time, "
                        "by one thread, and not from the function that computes gradients or "
                        "losses)",
                        state_->subject));
    return Stay(state_.get());
}

void RoundGate::begin(std::uint32_t epoch, std::uint64_t round) {
    const std::pair asked(epoch, round);
    if (state_->last && asked <= *state_->last)
        throw PrivacyError(
            fmt::format("{}: round {} of key epoch {} is not allowed (above round {} of key epoch "
                        "{}: noise is drawn once, or the difference of two messages would be "
                        "without any)",
                        state_->subject,
                        round,
                        epoch,
                        state_->last->second,
                        state_->last->first));
    state_->last = asked;
}

}  // namespace sotto
