#include "sotto/trust/enrolment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "open_file.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/trust/roster.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

/// Holds the lock of the file that has this name, which is created if there is none. A file that
/// was replaced while we waited for its lock no longer has the name: then try again.
OpenFile lock_file(const fs::path& path) {
    for (;;) {
        OpenFile file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
        if (!file.open()) throw_unwritable(path, errno);
        while (::flock(file.get(), LOCK_EX) != 0)
            if (errno != EINTR) throw_unwritable(path, errno);
        struct stat held {};
        struct stat named {};
        if (::fstat(file.get(), &held) != 0) throw_unwritable(path, errno);
        if (::stat(path.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
            held.st_ino == named.st_ino)
            return file;
    }
}

}  // namespace

IdentityKey enroll(const fs::path& identity_file,
                   const fs::path& roster_file,
                   const std::string& name) {
    require_roster_name(name);
    const Identity identity = Identity::generate();
    identity.write_new(identity_file);
    try {
        const OpenFile lock = lock_file(roster_file);
        const Roster roster = Roster::read(roster_file);
        for (const auto& entry : roster.entries())
            if (entry.name == name)
                throw ConfigError(fmt::format(
                    "name: '{}' is in {} already; name this identity otherwise with --name",
                    name,
                    roster_file.string()));
        std::string text = fs::file_size(roster_file) > 0 ? read_file(roster_file) : std::string();
        if (!text.empty() && text.back() != '\n') text += '\n';
        text += fmt::format("{} {}\n", to_hex(identity.public_key()), name);
        const fs::perms mode = fs::status(roster_file).permissions();
        // Through links, so that a linked roster stays one.
        const fs::path target = fs::canonical(roster_file);
        write_file_atomically(target, text);
        std::error_code ignored;
        fs::permissions(target, mode, ignored);
    } catch (const fs::filesystem_error& error) {
        ::unlink(identity_file.c_str());
        throw ConfigError(
            fmt::format("{}: cannot be used ({})", roster_file.string(), error.code().message()));
    } catch (...) {
        ::unlink(identity_file.c_str());
        throw;
    }
    return identity.public_key();
}

}  // namespace sotto
