#pragma once

namespace sotto::cli {

/// Nothing was asked yet; from now on an interrupt or termination asks for a stop; a second one ends the process at once.
/// SIGUSR1, which mpirun passes on to its ranks without ending them, asks however often it comes.
void watch_for_stop();
[[nodiscard]] bool stop_requested();

}  // namespace sotto::cli
