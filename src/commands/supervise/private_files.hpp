#pragma once

namespace sotto::cli {

/// Files that this process and the programs it starts make from now on are their owner's alone,
/// also what mpirun writes of each rank (--output-filename), whatever the user's umask. The umask
/// is kept for sotto itself, whose files outside a run directory have the mode that it gives.
void keep_files_private();

/// Of a program that keep_files_private() was called for: the user's umask again. Nothing
/// otherwise, and on other hosts, where a rank has the umask of its login.
void take_back_umask();

}  // namespace sotto::cli
