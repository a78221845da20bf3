#include "commands/doctor/folder_checks.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "commands/doctor/mpi_settings.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

/// A run writes a few megabytes; an MPI job's session less.
constexpr double least_free_mib = 50;

}  // namespace

Finding check_temporary_directory(const Placement&) {
    std::string folder = environment("TMPDIR");
    if (folder.empty()) folder = "/tmp";
    return check_writable(folder,
                          "set TMPDIR to a folder of this host that can be written and has room");
}

Finding check_run_directory(const Placement&) {
    const std::string fix =
        "start sotto in a folder that can be written, or name one with --run-directory";
    std::error_code failure;
    const fs::path here = fs::current_path(failure);
    if (failure)
        return {
            false, fmt::format("the working directory is not usable ({})", failure.message()), fix};
    const fs::path runs = here / "runs";
    if (!fs::exists(runs, failure)) return check_writable(here, fix);
    if (!fs::is_directory(runs, failure))
        return {false, runs.string() + " is not a directory", fix};
    return check_writable(runs, fix);
}

Finding check_writable(const fs::path& folder, const std::string& fix) {
    std::string file = folder / ".sotto-doctor-XXXXXX";
    const int descriptor = ::mkstemp(file.data());
    if (descriptor < 0)
        return {false,
                fmt::format("{} cannot be written ({})", folder.string(), std::strerror(errno)),
                fix};
    const bool written = ::write(descriptor, file.data(), file.size()) > 0;
    ::close(descriptor);
    ::unlink(file.c_str());
    const double available = free_mib(folder).value_or(0);
    if (!written || available < least_free_mib)
        return {false,
                fmt::format("{} is nearly full ({} free)", folder.string(), size_text(available)),
                fix};
    return {
        true, fmt::format("{} can be written, {} free", folder.string(), size_text(available)), ""};
}

std::optional<double> free_mib(const fs::path& folder) {
    struct statvfs status {};
    if (::statvfs(folder.c_str(), &status) != 0) return std::nullopt;
    return static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize) /
           bytes_per_mib;
}

std::string size_text(double mib) {
    return mib >= 10 * 1024 ? fmt::format("{:.0f} GiB", mib / 1024)
                            : fmt::format("{:.0f} MiB", mib);
}

}  // namespace sotto
