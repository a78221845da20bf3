#pragma once

// What a simulated rank knows of MPI: communicators, and messages that requests wait for.

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "simulation/job.hpp"

namespace sotto::simulation {

/// Handles are pointers in some libraries and numbers in others; none of ours is null.
template <class Handle>
Handle handle_of(std::intptr_t number) {
    if constexpr (std::is_pointer_v<Handle>)
        return reinterpret_cast<Handle>(number);
    else
        return static_cast<Handle>(number);
}
template <class Handle>
std::intptr_t number_of(Handle handle) {
    if constexpr (std::is_pointer_v<Handle>)
        return reinterpret_cast<std::intptr_t>(handle);
    else
        return static_cast<std::intptr_t>(handle);
}

struct Communicator {
    int number = 0;
    std::vector<int> neighbours;
    long collectives = 0;
    std::map<std::pair<int, int>, long> sent, received;  // by peer and tag
};

/// One message that a request waits for, and where it goes.
struct Part {
    Slot slot;
    void* target;
    std::size_t size;
};

struct Pending {
    std::vector<Part> parts;
    std::function<void()> finish;
};

/// What a rank knows of MPI.
struct RankMpi {
    bool initialized = false, finalized = false;
    std::map<std::intptr_t, Communicator> communicators;
    std::map<std::intptr_t, Pending> pending;
    std::intptr_t next_handle = 4096;
    int next_communicator = 1;
    MPI_User_function* operation = nullptr;
    // Of rounds with a deadline: messages that were found and are not received yet, and the last
    // round that was sent.
    std::map<std::intptr_t, std::vector<std::uint8_t>> found;
    std::size_t found_bytes = 0;
    std::int64_t late_round = -1;
};

/// Of the rank that runs.
[[nodiscard]] RankMpi& mpi();
[[nodiscard]] Communicator& communicator(MPI_Comm handle);
[[nodiscard]] MPI_Comm new_communicator(std::vector<int> neighbours);
[[nodiscard]] MPI_Request new_request(Pending pending);

[[nodiscard]] bool complete(const Pending& pending);
/// Takes what a complete request waited for. @return the code of MPI.
int finish(std::intptr_t handle);

/// Bytes of so many values.
[[nodiscard]] std::size_t length(int count, MPI_Datatype type);
[[nodiscard]] std::span<const std::uint8_t> bytes_of(const void* data, std::size_t size);

}  // namespace sotto::simulation
