#pragma once

// What this program does about signals, in one place.

#include <initializer_list>

namespace sotto {

/// Whether whoever started the program had it ignore the signal, and it does: SIGHUP under nohup,
/// SIGINT and SIGQUIT of what a script starts in the background, SIGPIPE. Nobody then expects them
/// to do anything, neither to the program nor to those that it starts.
[[nodiscard]] bool stays_ignored(int signal);

/// Calls the handler at each of the signals, but for those that stay ignored. Waits that a signal
/// ends are resumed (SA_RESTART).
void handle_signals(std::initializer_list<int> signals, void (*handler)(int));
/// The same; a wait ends early (EINTR).
void handle_signals_ending_waits(std::initializer_list<int> signals, void (*handler)(int));

/// Each of the signals does again what it does to any program (SIGTERM ends it), but for those that
/// stay ignored.
void default_signals(std::initializer_list<int> signals);

/// A file that grows above `ulimit -f` is an error of the write (EFBIG, exit code 9) and no signal
/// that ends the program without a word.
void report_too_large_files();

}  // namespace sotto
