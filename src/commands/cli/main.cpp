#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "commands/cli/program.hpp"
#include "commands/supervise/private_files.hpp"
#include "sotto/core/blas_kernels.hpp"

namespace {

/// Restarts the program without OpenBLAS threads if `ulimit -v` limits memory. When OpenBLAS is
/// loaded, before main, it starts a thread per core, each with a buffer of 128 MiB, and retries for
/// ever if there is no room. Its threads are not needed (end_blas_threads). This function runs
/// before the constructors of all libraries, so it may only use system calls.
void start_without_blas_threads(int /*count*/, char** arguments, char** environment) {
    static constexpr const char* setting = "OPENBLAS_NUM_THREADS=1";
    static constexpr std::size_t name_length = 21;  // with =
    static constexpr std::size_t most_variables = 4096;
    static std::array<char*, most_variables + 2> changed{};
    static std::array<char, 4096> program{};
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    std::size_t count = 0;
    for (char** variable = environment; *variable != nullptr; ++variable) {
        if (std::strcmp(*variable, setting) == 0 || count == most_variables) return;
        if (std::strncmp(*variable, setting, name_length) != 0) changed[count++] = *variable;
    }
    changed[count] = const_cast<char*>(setting);
    const ssize_t length = ::readlink("/proc/self/exe", program.data(), program.size() - 1);
    if (length > 0) ::execve(program.data(), arguments, changed.data());
}

[[gnu::section(".preinit_array"),
  gnu::used]] void (*first_of_all)(int, char**, char**) = start_without_blas_threads;

}  // namespace

int main(int argc, char** argv) {
    sotto::choose_blas_kernels();
    sotto::cli::take_back_umask();
    return sotto::cli::run_program(std::vector<std::string>(argv + 1, argv + argc));
}
