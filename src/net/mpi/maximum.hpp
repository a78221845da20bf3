#pragma once

#include <span>
#include <vector>

#include "net/mpi/world.hpp"

namespace sotto {

/// Maxima over all processes in which a NaN wins: blocking, or one non-blocking at a time.
class MpiMaximum {
  public:
    explicit MpiMaximum(MpiWorld& world);
    ~MpiMaximum();
    MpiMaximum(const MpiMaximum&) = delete;
    MpiMaximum& operator=(const MpiMaximum&) = delete;

    /// Control::maximum, begin_maximum and end_maximum. COLLECTIVE.
    [[nodiscard]] double of(double value);
    void begin(std::span<const double> values);
    [[nodiscard]] std::vector<double> end();

  private:
    MpiWorld& world_;
    MPI_Op operation_ = MPI_OP_NULL;
    MPI_Request pending_ = MPI_REQUEST_NULL;
    bool begun_ = false;
    std::vector<double> own_values_;
    std::vector<double> maxima_;
};

}  // namespace sotto
