#pragma once

namespace sotto {

// SIGINT and SIGTERM end a process at once, as they do any other, but where a stop between two
// rounds is near. What a process was started to ignore stays ignored (signal_actions.hpp).

/// Nothing was asked yet; from now on an interrupt or termination asks for a stop; a second one
/// ends the process at once. SIGUSR1, which mpirun passes on to its ranks without ending them, asks
/// however often it comes.
void watch_for_stop();
[[nodiscard]] bool stop_requested();

/// From now on an interrupt, termination or SIGUSR1 ends the process at once. So does one that was
/// asked for and not yet answered.
void end_when_stopped();

/// For work of unknown length between stops that are watched for: whoever asks meanwhile, or has
/// asked, ends the process after half a second, unless watch_on() comes first, by which everything
/// is again as after watch_for_stop(). What was asked stays asked.
void end_soon_when_stopped();
void watch_on();

}  // namespace sotto
