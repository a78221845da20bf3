#pragma once

#include <optional>
#include <string>

namespace sotto {

/// MPI for the life of the object: sets mpi_yield_when_idle (unless the user set it) before
/// MPI_Init, so that more ranks than cores do not crawl, and finalizes at the end; not while an
/// exception unwinds it, because the other ranks may be waiting elsewhere (catch errors inside its
/// scope). Leaves starting and ending to a program that has started MPI itself.
class MpiSession {
  public:
    /// @throws NetworkError if MPI cannot start, if srun connects its tasks by neither PMIx nor
    /// PMI, or if the launcher announced more ranks than MPI sees (the job fell apart into single
    /// processes: a launcher of another MPI).
    /// @param communicator whose processes are the job, of a program that has started MPI: its
    /// Fortran handle (MPI_Comm_c2f); none: MPI_COMM_WORLD. Must live as long as networks made of it.
    explicit MpiSession(std::optional<int> communicator = std::nullopt);
    ~MpiSession();
    MpiSession(const MpiSession&) = delete;
    MpiSession& operator=(const MpiSession&) = delete;

    [[nodiscard]] int ranks() const;
    [[nodiscard]] int rank() const;
    /// Its Fortran handle.
    [[nodiscard]] int communicator() const { return communicator_; }
    /// Library name and version, one line.
    [[nodiscard]] static std::string library_version();
    /// Host name of this process as MPI reports it.
    [[nodiscard]] static std::string host_name();

  private:
    bool owns_mpi_ = false;  // false when the program had started MPI before
    int exceptions_at_start_ = 0;
    int communicator_ = 0;
    int ranks_ = 1;
    int rank_ = 0;
};

}  // namespace sotto
