#pragma once

// Room for OpenBLAS's buffers under a limit on address space.

namespace sotto {

/// A thread that computes with OpenBLAS has a buffer of 128 MiB, and waits for ever where
/// `ulimit -v` leaves no room for it. Under such a limit this takes the buffers, for as many
/// threads as there are cores, or as leave half of the room for everything else; otherwise, and
/// with another BLAS, it does nothing. Once, before anything is computed.
/// @throws Error (exit code 1, out of memory) naming the limit where there is no room for one.
void reserve_blas_memory();

/// How many threads may compute with BLAS at the same time: as many as have a buffer; no limit
/// where none was reserved.
[[nodiscard]] int most_blas_threads();

}  // namespace sotto
