#pragma once

#include <csignal>

namespace sotto::python {

/// Saves Python's handlers of the signals that sotto watches (stop_signal.hpp), and restores them
/// at the end.
class KeptSignals {
  public:
    KeptSignals() {
        for (std::size_t k = 0; k < count; ++k) sigaction(watched[k], nullptr, &kept_[k]);
    }
    ~KeptSignals() {
        for (std::size_t k = 0; k < count; ++k) sigaction(watched[k], &kept_[k], nullptr);
    }
    KeptSignals(const KeptSignals&) = delete;
    KeptSignals& operator=(const KeptSignals&) = delete;

  private:
    static constexpr std::size_t count = 3;
    static constexpr int watched[count] = {SIGINT, SIGTERM, SIGUSR1};
    struct sigaction kept_[count] {};
};

}  // namespace sotto::python
