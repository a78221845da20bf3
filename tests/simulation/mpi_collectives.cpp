// Collectives of MPI as the simulated ranks see them: messages between pairs.

#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "simulation/mpi_state.hpp"

namespace sotto::simulation {
namespace {

Traffic control_of(MPI_Datatype type) {
    return type == MPI_UINT64_T ? Traffic::size : Traffic::control;
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
        *request = new_request(std::move(pending_));
        return MPI_SUCCESS;
    }

  private:
    Traffic traffic_;
    Slot slot_;
    Pending pending_;
};

std::byte* at(void* base, std::size_t offset) { return static_cast<std::byte*>(base) + offset; }
const std::byte* at(const void* base, std::size_t offset) {
    return static_cast<const std::byte*>(base) + offset;
}
/// As many values to and from every neighbour; those to the next begin `stride` values later.
int exchange_pieces(const void* from,
                    int count,
                    int stride,
                    MPI_Datatype type,
                    void* into,
                    int into_count,
                    MPI_Datatype into_type,
                    MPI_Comm comm,
                    MPI_Request* request) {
    const std::size_t degree = communicator(comm).neighbours.size();
    const std::vector<int> counts(degree, count), into_counts(degree, into_count);
    std::vector<int> starts, into_starts;
    for (int j = 0; j < static_cast<int>(degree); ++j) {
        starts.push_back(j * stride);
        into_starts.push_back(j * into_count);
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

}  // namespace
}  // namespace sotto::simulation

using namespace sotto::simulation;

extern "C" {

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

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
    Collective call("MPI_Ibarrier", comm, Traffic::control);
    for (int peer = 0; peer < job().world.size(); ++peer) {
        if (peer == current()->place) continue;
        call.send(peer, nullptr, 0);
        call.expect(peer, nullptr, 0);
    }
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
                for (int i = 0; i < count; ++i)
                    static_cast<int*>(into)[i] =
                        std::min(static_cast<int*>(into)[i], static_cast<const int*>(theirs)[i]);
        }
    });
}

int MPI_Igatherv(const void* from,
                 int count,
                 MPI_Datatype type,
                 void* into,
                 const int into_counts[],
                 const int into_starts[],
                 MPI_Datatype into_type,
                 int root,
                 MPI_Comm comm,
                 MPI_Request* request) {
    Collective call("MPI_Igatherv", comm, Traffic::collection);
    job().observer.message_leaves(bytes_of(from, length(count, type)), false);
    if (current()->place != root)
        call.send(root, from, length(count, type));
    else
        for (int peer = 0; peer < job().world.size(); ++peer)
            if (peer != root)
                call.expect(peer,
                            at(into, length(into_starts[peer], into_type)),
                            length(into_counts[peer], into_type));
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
    return call.begin(request, [] { job().observer.exchanged(); });
}

int MPI_Ineighbor_allgather(const void* from,
                            int count,
                            MPI_Datatype type,
                            void* into,
                            int into_count,
                            MPI_Datatype into_type,
                            MPI_Comm comm,
                            MPI_Request* request) {
    return exchange_pieces(from, count, 0, type, into, into_count, into_type, comm, request);
}

}  // extern "C"
