#pragma once

// Signal handling of the program.

#include <initializer_list>

namespace sotto {

/// Whether the signal was ignored when the program started and stays so: SIGHUP under nohup, SIGINT
/// and SIGQUIT of background jobs of a script, SIGPIPE. Neither the program nor its children should
/// then react to it.
[[nodiscard]] bool stays_ignored(int signal);

/// Sets the handler of these signals, except those that stay ignored. Interrupted waits are resumed
/// (SA_RESTART).
void handle_signals(std::initializer_list<int> signals, void (*handler)(int));
/// The same; interrupted waits end early (EINTR).
void handle_signals_ending_waits(std::initializer_list<int> signals, void (*handler)(int));

/// Restores the default action of these signals, except those that stay ignored.
void default_signals(std::initializer_list<int> signals);

/// Makes a file that grows above `ulimit -f` a write error (EFBIG, exit code 9) instead of a signal
/// that ends the program silently.
void report_too_large_files();

}  // namespace sotto
