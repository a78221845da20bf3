#include "commands/cli/program.hpp"
#include "sotto/core/linear_algebra.hpp"

int main(int argc, char** argv) {
    sotto::end_blas_threads();
    return sotto::cli::run_program(std::vector<std::string>(argv + 1, argv + argc));
}
