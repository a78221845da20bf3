// MPI as the simulated ranks see it: these definitions come before those of the MPI library, whose
// processes and network the program then never meets. Only what src/net calls is here.

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "simulation/job.hpp"

namespace sotto::simulation {
namespace {

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
};

RankMpi& mpi() {
    static std::map<int, RankMpi> of_ranks;
    return of_ranks[current()->place];
}

Communicator& communicator(MPI_Comm handle) {
    return mpi().communicators[handle == MPI_COMM_WORLD ? 0 : number_of(handle)];
}

MPI_Comm new_communicator(std::vector<int> neighbours) {
    RankMpi& own = mpi();
    const std::intptr_t handle = own.next_handle += 64;
    own.communicators[handle] = {own.next_communicator++, std::move(neighbours), 0, {}, {}};
    return handle_of<MPI_Comm>(handle);
}

std::size_t size_of(MPI_Datatype type) {
    if (type == MPI_DOUBLE || type == MPI_UINT64_T || type == MPI_INT64_T) return 8;
    if (type == MPI_INT) return 4;
    return 1;
}

Traffic control_of(MPI_Datatype type) {
    return type == MPI_UINT64_T ? Traffic::size : Traffic::control;
}

std::span<const std::uint8_t> bytes_of(const void* data, std::size_t size) {
    return {static_cast<const std::uint8_t*>(data), size};
}

/// A collective under way: what it sends leaves at once.
class Collective {
  public:
    Collective(const char* name, MPI_Comm handle, Traffic traffic) : traffic_(traffic) {
        job().world.call(name);
        Communicator& own = communicator(handle);
        slot_ = {own.number, -1, current()->place, own.collectives++};
    }
    void send(int to, const void* data, std::size_t size) {
        job().wire.send(to, slot_, bytes_of(data, size), traffic_);
    }
    void expect(int from, void* target, std::size_t size) {
        Slot slot = slot_;
        slot.from = from;
        pending_.parts.push_back({slot, target, size});
    }
    int begin(MPI_Request* request, std::function<void()> finish = {}) {
        pending_.finish = std::move(finish);
        RankMpi& own = mpi();
        const std::intptr_t handle = own.next_handle += 64;
        own.pending[handle] = std::move(pending_);
        *request = handle_of<MPI_Request>(handle);
        return MPI_SUCCESS;
    }

  private:
    Traffic traffic_;
    Slot slot_;
    Pending pending_;
};

bool complete(const Pending& pending) {
    return std::ranges::all_of(pending.parts, [](const Part& part) {
        return job().wire.arrived(current()->place, part.slot) != nullptr;
    });
}

int finish(std::intptr_t handle) {
    Pending pending = std::move(mpi().pending[handle]);
    mpi().pending.erase(handle);
    int code = MPI_SUCCESS;
    for (const Part& part : pending.parts) {
        const auto& bytes = *job().wire.arrived(current()->place, part.slot);
        if (bytes.size() > part.size) code = MPI_ERR_TRUNCATE;
        if (!bytes.empty())
            std::memcpy(part.target, bytes.data(), std::min(part.size, bytes.size()));
        job().wire.forget(current()->place, part.slot);
    }
    if (code == MPI_SUCCESS && pending.finish) pending.finish();
    return code;
}

/// Between two looks around while nothing arrives: stall watches read the clock every 16 tests.
bool patient() {
    constexpr int tests_in_a_row = 16;
    constexpr double shortest = 0.06, longest = 0.45;
    Rank& rank = *current();
    if (++rank.idle_tests % tests_in_a_row != 0) return false;
    rank.patience = std::clamp(2 * rank.patience, shortest, longest);
    return true;
}

const Slot* tagged(MPI_Comm handle) {
    return job().wire.first_tagged(current()->place, communicator(handle).number);
}

std::byte* at(void* base, std::size_t offset) { return static_cast<std::byte*>(base) + offset; }
const std::byte* at(const void* base, std::size_t offset) {
    return static_cast<const std::byte*>(base) + offset;
}
std::size_t length(int count, MPI_Datatype type) {
    return static_cast<std::size_t>(count) * size_of(type);
}

}  // namespace
}  // namespace sotto::simulation

using namespace sotto::simulation;

extern "C" {

int MPI_Init_thread(int*, char***, int required, int* provided) {
    mpi().initialized = true;
    *provided = required;
    return MPI_SUCCESS;
}
int MPI_Initialized(int* flag) {
    *flag = mpi().initialized ? 1 : 0;
    return MPI_SUCCESS;
}
int MPI_Finalize() {
    mpi().finalized = true;
    return MPI_SUCCESS;
}
int MPI_Finalized(int* flag) {
    *flag = mpi().finalized ? 1 : 0;
    return MPI_SUCCESS;
}
int MPI_Abort(MPI_Comm, int code) {
    current()->exit_code = code;
    job().world.end_job();
    job().world.die(Death::aborted);
}
int MPI_Comm_size(MPI_Comm, int* size) {
    *size = job().world.size();
    return MPI_SUCCESS;
}
int MPI_Comm_rank(MPI_Comm, int* rank) {
    *rank = current()->place;
    return MPI_SUCCESS;
}
int MPI_Comm_dup(MPI_Comm, MPI_Comm* copy) {
    *copy = new_communicator({});
    return MPI_SUCCESS;
}
int MPI_Comm_free(MPI_Comm* handle) {
    *handle = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
int MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler) { return MPI_SUCCESS; }
int MPI_Dist_graph_create_adjacent(MPI_Comm,
                                   int degree,
                                   const int sources[],
                                   const int[],
                                   int,
                                   const int[],
                                   const int[],
                                   MPI_Info,
                                   int,
                                   MPI_Comm* created) {
    *created = new_communicator({sources, sources + degree});
    return MPI_SUCCESS;
}
int MPI_Error_string(int code, char* text, int* length) {
    *length = std::snprintf(text, MPI_MAX_ERROR_STRING, "simulated MPI error %d", code);
    return MPI_SUCCESS;
}
int MPI_Get_library_version(char* text, int* length) {
    *length = std::snprintf(text, MPI_MAX_LIBRARY_VERSION_STRING, "simulated MPI");
    return MPI_SUCCESS;
}
int MPI_Get_processor_name(char* text, int* length) {
    *length = std::snprintf(text, MPI_MAX_PROCESSOR_NAME, "host-%d", current()->number);
    return MPI_SUCCESS;
}
int MPI_Op_create(MPI_User_function* function, int, MPI_Op* operation) {
    mpi().operation = function;
    *operation = handle_of<MPI_Op>(64);
    return MPI_SUCCESS;
}
int MPI_Op_free(MPI_Op* operation) {
    *operation = MPI_OP_NULL;
    return MPI_SUCCESS;
}

int MPI_Ibcast(
    void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
    Collective call("MPI_Ibcast", comm, control_of(type));
    const std::size_t size = length(count, type);
    if (current()->place != root)
        call.expect(root, buffer, size);
    else
        for (int to = 0; to < job().world.size(); ++to)
            if (to != root) call.send(to, buffer, size);
    return call.begin(request);
}

int MPI_Iallgatherv(const void* from,
                    int count,
                    MPI_Datatype type,
                    void* into,
                    const int counts[],
                    const int starts[],
                    MPI_Datatype into_type,
                    MPI_Comm comm,
                    MPI_Request* request) {
    Collective call("MPI_Iallgatherv", comm, control_of(type));
    for (int peer = 0; peer < job().world.size(); ++peer) {
        void* const place = at(into, length(starts[peer], into_type));
        if (peer == current()->place) {
            if (count > 0) std::memmove(place, from, length(count, type));
            continue;
        }
        call.send(peer, from, length(count, type));
        call.expect(peer, place, length(counts[peer], into_type));
    }
    return call.begin(request);
}

int MPI_Iallgather(const void* from,
                   int count,
                   MPI_Datatype type,
                   void* into,
                   int into_count,
                   MPI_Datatype into_type,
                   MPI_Comm comm,
                   MPI_Request* request) {
    const std::vector<int> counts(static_cast<std::size_t>(job().world.size()), into_count);
    std::vector<int> starts;
    for (int peer = 0; peer < job().world.size(); ++peer) starts.push_back(peer * into_count);
    return MPI_Iallgatherv(
        from, count, type, into, counts.data(), starts.data(), into_type, comm, request);
}

int MPI_Iallreduce(const void* from,
                   void* into,
                   int count,
                   MPI_Datatype type,
                   MPI_Op operation,
                   MPI_Comm comm,
                   MPI_Request* request) {
    Collective call("MPI_Iallreduce", comm, Traffic::control);
    const std::size_t size = length(count, type);
    auto room = std::make_shared<std::vector<std::byte>>(
        size * static_cast<std::size_t>(job().world.size()));
    for (int peer = 0; peer < job().world.size(); ++peer) {
        void* const place = room->data() + size * static_cast<std::size_t>(peer);
        if (peer == current()->place) {
            std::memcpy(place, from, size);
            continue;
        }
        call.send(peer, from, size);
        call.expect(peer, place, size);
    }
    MPI_User_function* const function = operation == MPI_MIN ? nullptr : mpi().operation;
    return call.begin(request, [=, type = type, count = count]() mutable {
        std::memcpy(into, room->data(), size);
        for (std::size_t peer = 1; peer * size < room->size(); ++peer) {
            void* const theirs = room->data() + peer * size;
            if (function != nullptr)
                function(theirs, into, &count, &type);
            else
                *static_cast<int*>(into) =
                    std::min(*static_cast<int*>(into), *static_cast<const int*>(theirs));
        }
    });
}

int MPI_Igather(const void* from,
                int count,
                MPI_Datatype type,
                void* into,
                int,
                MPI_Datatype,
                int root,
                MPI_Comm comm,
                MPI_Request* request) {
    Collective call("MPI_Igather", comm, Traffic::collection);
    job().observer.message_leaves(bytes_of(from, length(count, type)), false);
    const std::size_t size = length(count, type);
    if (current()->place != root)
        call.send(root, from, size);
    else
        for (int peer = 0; peer < job().world.size(); ++peer)
            if (peer != root)
                call.expect(peer, at(into, size * static_cast<std::size_t>(peer)), size);
    return call.begin(request);
}

int MPI_Iscatter(const void* from,
                 int count,
                 MPI_Datatype type,
                 void* into,
                 int,
                 MPI_Datatype,
                 int root,
                 MPI_Comm comm,
                 MPI_Request* request) {
    Collective call(
        "MPI_Iscatter", comm, type == MPI_UINT64_T ? Traffic::size : Traffic::collection);
    const std::size_t size = length(count, type);
    if (current()->place != root) {
        call.expect(root, into, size);
    } else {
        for (int peer = 0; peer < job().world.size(); ++peer)
            if (peer != root)
                call.send(peer, at(from, size * static_cast<std::size_t>(peer)), size);
        std::memmove(into, at(from, size * static_cast<std::size_t>(root)), size);
    }
    return call.begin(request);
}

int MPI_Ineighbor_alltoallv(const void* from,
                            const int counts[],
                            const int starts[],
                            MPI_Datatype type,
                            void* into,
                            const int into_counts[],
                            const int into_starts[],
                            MPI_Datatype into_type,
                            MPI_Comm comm,
                            MPI_Request* request) {
    Collective call("MPI_Ineighbor_alltoallv", comm, Traffic::exchange);
    const std::vector<int> neighbours = communicator(comm).neighbours;
    std::vector<std::uint8_t> all;
    for (std::size_t j = 0; j < neighbours.size(); ++j) {
        const auto part = bytes_of(at(from, length(starts[j], type)), length(counts[j], type));
        all.insert(all.end(), part.begin(), part.end());
    }
    job().observer.message_leaves(all, true);
    for (std::size_t j = 0; j < neighbours.size(); ++j) {
        if (counts[j] > 0)
            call.send(neighbours[j], at(from, length(starts[j], type)), length(counts[j], type));
        if (into_counts[j] > 0)
            call.expect(neighbours[j],
                        at(into, length(into_starts[j], into_type)),
                        length(into_counts[j], into_type));
    }
    return call.begin(request);
}

int MPI_Ineighbor_alltoall(const void* from,
                           int count,
                           MPI_Datatype type,
                           void* into,
                           int into_count,
                           MPI_Datatype into_type,
                           MPI_Comm comm,
                           MPI_Request* request) {
    const std::size_t degree = communicator(comm).neighbours.size();
    const std::vector<int> counts(degree, count), into_counts(degree, into_count);
    std::vector<int> starts, into_starts;
    for (std::size_t j = 0; j < degree; ++j) {
        starts.push_back(static_cast<int>(j) * count);
        into_starts.push_back(static_cast<int>(j) * into_count);
    }
    return MPI_Ineighbor_alltoallv(from,
                                   counts.data(),
                                   starts.data(),
                                   type,
                                   into,
                                   into_counts.data(),
                                   into_starts.data(),
                                   into_type,
                                   comm,
                                   request);
}

int MPI_Ineighbor_allgather(const void* from,
                            int count,
                            MPI_Datatype type,
                            void* into,
                            int into_count,
                            MPI_Datatype into_type,
                            MPI_Comm comm,
                            MPI_Request* request) {
    const std::size_t degree = communicator(comm).neighbours.size();
    const std::vector<int> counts(degree, count), into_counts(degree, into_count),
        starts(degree, 0);
    std::vector<int> into_starts;
    for (std::size_t j = 0; j < degree; ++j)
        into_starts.push_back(static_cast<int>(j) * into_count);
    return MPI_Ineighbor_alltoallv(from,
                                   counts.data(),
                                   starts.data(),
                                   type,
                                   into,
                                   into_counts.data(),
                                   into_starts.data(),
                                   into_type,
                                   comm,
                                   request);
}

int MPI_Isend(const void* data,
              int count,
              MPI_Datatype type,
              int to,
              int tag,
              MPI_Comm comm,
              MPI_Request* request) {
    Communicator& own = communicator(comm);
    // Questions of stall watches are 64-bit integers; they are not counted as calls, since their
    // number depends on how long others take.
    const bool question = type == MPI_INT64_T;
    if (!question) job().world.call("MPI_Isend");
    const Slot slot{own.number, tag, current()->place, own.sent[{to, tag}]++};
    job().wire.send(to,
                    slot,
                    bytes_of(data, length(count, type)),
                    question ? Traffic::question : Traffic::control);
    const std::intptr_t handle = mpi().next_handle += 64;
    mpi().pending[handle] = {};
    *request = handle_of<MPI_Request>(handle);
    return MPI_SUCCESS;
}

int MPI_Irecv(void* into,
              int count,
              MPI_Datatype type,
              int from,
              int tag,
              MPI_Comm comm,
              MPI_Request* request) {
    job().world.call("MPI_Irecv");
    Communicator& own = communicator(comm);
    const Slot slot{own.number, tag, from, own.received[{from, tag}]++};
    const std::intptr_t handle = mpi().next_handle += 64;
    mpi().pending[handle] = {{{slot, into, length(count, type)}}, {}};
    *request = handle_of<MPI_Request>(handle);
    return MPI_SUCCESS;
}

int MPI_Iprobe(int, int, MPI_Comm comm, int* there, MPI_Status* status) {
    const Slot* const slot = tagged(comm);
    *there = slot != nullptr ? 1 : 0;
    if (slot == nullptr) return MPI_SUCCESS;
    status->MPI_SOURCE = slot->from;
    status->MPI_TAG = slot->tag;
    return MPI_SUCCESS;
}

int MPI_Recv(void* into, int count, MPI_Datatype type, int, int, MPI_Comm comm, MPI_Status*) {
    const Slot slot = *tagged(comm);
    const auto& bytes = *job().wire.arrived(current()->place, slot);
    std::memcpy(into, bytes.data(), std::min(bytes.size(), length(count, type)));
    job().wire.forget(current()->place, slot);
    return MPI_SUCCESS;
}

int MPI_Test(MPI_Request* request, int* done, MPI_Status*) {
    *done = 1;
    if (*request == MPI_REQUEST_NULL) return MPI_SUCCESS;
    const std::intptr_t handle = number_of(*request);
    if (!complete(mpi().pending[handle])) {
        if (patient()) job().world.wait(current()->patience, true);
        if (!complete(mpi().pending[handle])) {
            *done = 0;
            return MPI_SUCCESS;
        }
    }
    current()->idle_tests = 0;
    current()->patience = 0;
    *request = MPI_REQUEST_NULL;
    return finish(handle);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    for (int done = 0;;) {
        const int code = MPI_Test(request, &done, status);
        if (done != 0) return code;
    }
}

int MPI_Request_free(MPI_Request* request) {
    mpi().pending.erase(number_of(*request));
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

}  // extern "C"
