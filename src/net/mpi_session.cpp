#include "sotto/net/mpi_session.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <sstream>

#include "mpi_call.hpp"
#include "sotto/core/error.hpp"
#include "sotto/net/launch_environment.hpp"

namespace sotto {

MpiSession::MpiSession(std::optional<int> communicator)
    : exceptions_at_start_(std::uncaught_exceptions()) {
    int finalized = 0;
    check_mpi(MPI_Finalized(&finalized), "MPI_Finalized");
    if (finalized != 0)
        throw NetworkError("MPI was already finalized in this process; it cannot start again");
    int initialized = 0;
    check_mpi(MPI_Initialized(&initialized), "MPI_Initialized");

    // Starting as a single process may change the environment: read it first.
    const LaunchEnvironment launch = initialized == 0 ? launch_environment() : LaunchEnvironment{};
    if (initialized == 0) {
        require_connected_tasks();
        // Without yielding, more ranks than cores are a thousand times slower.
        setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
        int provided = MPI_THREAD_SINGLE;
        check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided),
                  "MPI_Init_thread");
        owns_mpi_ = true;
        if (provided < MPI_THREAD_FUNNELED) {
            MPI_Finalize();
            throw NetworkError("this MPI does not allow threads beside it (MPI_THREAD_FUNNELED)");
        }
    }
    const MPI_Comm job = communicator ? MPI_Comm_f2c(*communicator) : MPI_COMM_WORLD;
    communicator_ = MPI_Comm_c2f(job);
    check_mpi(MPI_Comm_set_errhandler(job, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_size(job, &ranks_), "MPI_Comm_size");
    check_mpi(MPI_Comm_rank(job, &rank_), "MPI_Comm_rank");
    if (launch.ranks > ranks_) {
        const int seen = ranks_;
        MPI_Finalize();
        throw NetworkError(
            fmt::format("the launcher announced {} ranks but MPI sees {}: the job fell apart into "
                        "single processes; start it with the mpirun of this MPI library ({}), or "
                        "with 'srun --mpi=pmix'",
                        launch.ranks,
                        seen,
                        library_version()));
    }
}

MpiSession::~MpiSession() {
    // While an exception unwinds, the other ranks may wait in a collective and finalizing would
    // wait for them. The process ends without it, and the launcher then ends the others.
    if (!owns_mpi_ || std::uncaught_exceptions() > exceptions_at_start_) return;
    MPI_Finalize();
}

int MpiSession::ranks() const { return ranks_; }
int MpiSession::rank() const { return rank_; }

std::string MpiSession::library_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    check_mpi(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
    // Some libraries list their build options on further lines.
    std::istringstream lines(std::string(text.data()));
    std::string line;
    std::getline(lines, line);
    for (char& c : line)
        if (c == '\t' || c == '\r') c = ' ';
    return line;
}

std::string MpiSession::host_name() {
    std::array<char, MPI_MAX_PROCESSOR_NAME> text{};
    int length = 0;
    check_mpi(MPI_Get_processor_name(text.data(), &length), "MPI_Get_processor_name");
    return std::string(text.data(), static_cast<std::size_t>(length));
}

}  // namespace sotto
