// A matrix in a .npy file: mixing matrices and models.

#include "core/files.hpp"
#include "support.hpp"

using namespace sotto;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::MemoryFile file(data, size);
    (void)fuzz::accepts([&] {
        const Eigen::MatrixXd matrix = read_npy(file.path());
        fuzz::require(static_cast<std::size_t>(matrix.size()) * sizeof(double) <= size);
    });
    return 0;
}
