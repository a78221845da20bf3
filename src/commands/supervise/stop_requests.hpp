#pragma once

namespace sotto::cli {

/// Signals that ask a supervisor to stop: SIGINT, SIGTERM, SIGHUP, SIGUSR1. From here on they are
/// counted; each also ends a wait. What the supervisor was started to ignore, as SIGHUP under
/// nohup, stays ignored.
void count_stop_requests();
/// How many came.
[[nodiscard]] int stop_requests();
/// The first; 0: none.
[[nodiscard]] int first_stop_signal();
/// As before, with none.
void forget_stop_requests();
/// Waits, at most until one comes. [s]
void pause_unless_stopped(double seconds);

}  // namespace sotto::cli
