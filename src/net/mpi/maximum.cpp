#include "net/mpi/maximum.hpp"

#include <cmath>

namespace sotto {

namespace {

extern "C" void maximum_or_nan(void* in, void* in_out, int* count, MPI_Datatype* /*type*/) {
    const auto* a = static_cast<const double*>(in);
    auto* b = static_cast<double*>(in_out);
    for (int i = 0; i < *count; ++i)
        if (std::isnan(a[i]) || a[i] > b[i]) b[i] = a[i];
}

}  // namespace

MpiMaximum::MpiMaximum(MpiWorld& world) : world_(world) {
    check_mpi(MPI_Op_create(maximum_or_nan, 1, &operation_), "MPI_Op_create");
}

MpiMaximum::~MpiMaximum() {
    if (!world_.orderly()) return;
    if (pending_ != MPI_REQUEST_NULL) MPI_Wait(&pending_, MPI_STATUS_IGNORE);
    MPI_Op_free(&operation_);
}

double MpiMaximum::of(double value) {
    double result = value;
    world_.complete("MPI_Iallreduce", [&](MPI_Request* request) {
        return MPI_Iallreduce(
            &value, &result, 1, MPI_DOUBLE, operation_, world_.communicator(), request);
    });
    return result;
}

void MpiMaximum::begin(std::span<const double> values) {
    if (begun_) throw Error(ExitCode::other, "a maximum is already under way");
    own_values_.assign(values.begin(), values.end());
    maxima_.resize(own_values_.size());
    check_mpi(MPI_Iallreduce(own_values_.data(),
                             maxima_.data(),
                             mpi_count(own_values_.size()),
                             MPI_DOUBLE,
                             operation_,
                             world_.communicator(),
                             &pending_),
              "MPI_Iallreduce");
    begun_ = true;
}

std::vector<double> MpiMaximum::end() {
    if (!begun_) throw Error(ExitCode::other, "no maximum is under way");
    world_.finish("MPI_Iallreduce", pending_);
    begun_ = false;
    return maxima_;
}

}  // namespace sotto
