#pragma once

// OpenBLAS's buffers under a limit on address space.

namespace sotto {

/// A thread that uses OpenBLAS has a buffer of 128 MiB, and hangs if `ulimit -v` leaves no room for
/// it. Under such a limit this reserves the buffers for as many threads as there are cores, or as
/// fit into half of the room; otherwise, and with another BLAS, it does nothing. Call once, before
/// any computation.
/// @throws Error (exit code 1, out of memory) naming the limit if there is no room for one.
void reserve_blas_memory();

/// Number of threads that may use BLAS at the same time: the number of reserved buffers; unlimited
/// if none were reserved.
[[nodiscard]] int most_blas_threads();

}  // namespace sotto
