#include "commands/cli/program.hpp"
#include "commands/supervise/private_files.hpp"
#include "sotto/core/blas_kernels.hpp"

int main(int argc, char** argv) {
    sotto::choose_blas_kernels();
    sotto::cli::take_back_umask();
    return sotto::cli::run_program(std::vector<std::string>(argv + 1, argv + argc));
}
