// MPI as the simulated ranks see it: these definitions come before those of the MPI library, whose
// processes and network the program then never meets. Only what src/net calls is here, and in
// mpi_collectives.cpp.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "simulation/mpi_state.hpp"

namespace sotto::simulation {
namespace {

/// Between two looks around while nothing arrives: stall watches read the clock every 16 tests.
bool patient() {
    constexpr int tests_in_a_row = 16;
    constexpr double shortest = 0.06, longest = 0.45;
    Rank& rank = *current();
    if (++rank.idle_tests % tests_in_a_row != 0) return false;
    rank.patience = std::clamp(2 * rank.patience, shortest, longest);
    return true;
}

/// Messages of rounds with a deadline (net/mpi/late_mail.cpp): round, step and what was used.
constexpr int late_tag = 2;
constexpr std::size_t late_header = 24;

/// A process sends all its neighbours the messages of a round one after the other.
void late_message_leaves(std::span<const std::uint8_t> bytes) {
    std::int64_t round = -1;
    if (bytes.size() <= late_header) return;  // says where the process is
    std::memcpy(&round, bytes.data(), sizeof round);
    if (std::exchange(mpi().late_round, round) == round) return;
    job().observer.message_leaves(bytes.subspan(late_header), true);
}

const Slot* tagged(MPI_Comm handle) {
    return job().wire.first_tagged(current()->place, communicator(handle).number);
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
int MPI_Comm_idup(MPI_Comm, MPI_Comm* copy, MPI_Request* request) {
    *copy = new_communicator({});
    *request = new_request({});
    return MPI_SUCCESS;
}
// Nobody leaves while a simulated run goes on.
int MPI_Comm_split(MPI_Comm, int, int, MPI_Comm*) { return MPI_ERR_OTHER; }
MPI_Fint MPI_Comm_c2f(MPI_Comm) { return 0; }
MPI_Comm MPI_Comm_f2c(MPI_Fint) { return MPI_COMM_WORLD; }
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
    const auto bytes = bytes_of(data, length(count, type));
    const bool late = tag == late_tag && !own.neighbours.empty();
    if (late) late_message_leaves(bytes);
    job().wire.send(to,
                    slot,
                    bytes,
                    question ? Traffic::question
                    : late   ? Traffic::exchange
                             : Traffic::control);
    *request = new_request({});
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
    *request = new_request({{{slot, into, length(count, type)}}, {}});
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

int MPI_Improbe(int, int, MPI_Comm comm, int* there, MPI_Message* message, MPI_Status* status) {
    const Slot* found = tagged(comm);
    if (found == nullptr && patient()) {
        job().world.wait(current()->patience, true);
        found = tagged(comm);
    }
    *there = found != nullptr ? 1 : 0;
    if (found == nullptr) return MPI_SUCCESS;
    current()->idle_tests = 0;
    current()->patience = 0;
    const Slot slot = *found;
    RankMpi& own = mpi();
    const std::intptr_t handle = own.next_handle += 64;
    own.found[handle] = *job().wire.arrived(current()->place, slot);
    own.found_bytes = own.found[handle].size();
    job().wire.forget(current()->place, slot);
    *message = handle_of<MPI_Message>(handle);
    status->MPI_SOURCE = slot.from;
    status->MPI_TAG = slot.tag;
    return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status*, MPI_Datatype, int* count) {
    *count = static_cast<int>(mpi().found_bytes);  // of the last that was found
    return MPI_SUCCESS;
}

int MPI_Imrecv(
    void* into, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
    job().world.call("MPI_Imrecv");
    const auto found = mpi().found.extract(number_of(*message));
    const std::size_t size = std::min(length(count, type), found.mapped().size());
    if (size > 0) std::memcpy(into, found.mapped().data(), size);
    *message = MPI_MESSAGE_NULL;
    *request = new_request({});
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
