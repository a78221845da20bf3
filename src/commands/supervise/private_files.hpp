#pragma once

namespace sotto::cli {

/// From now on only their owner can read the files that this process and its children make,
/// mpirun's log of each rank (--output-filename) included. The user's umask is saved for sotto
/// itself, which applies it to files outside a run directory.
void keep_files_private();

/// Restores the user's umask in a program started after keep_files_private(). Does nothing
/// otherwise, nor on other hosts, where a rank has the umask of its login.
void take_back_umask();

}  // namespace sotto::cli
