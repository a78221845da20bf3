#pragma once

#include <filesystem>
#include <string>

#include "sotto/trust/identity.hpp"

namespace sotto {

/// Makes an identity, writes it to a new file, and appends its public key to the roster, which is
/// created if it does not exist. Several processes may do so with one roster at once: each works on
/// a locked file (flock) and replaces it in one step, so no entry is lost and nobody reads half a
/// line. Nothing of a new identity stays if the roster cannot be written.
/// @param name one word of at most 64 ASCII characters, without #.  @return the public key.
/// @throws ConfigError: identity exists, a name that is not allowed or taken, a file that cannot be
/// written. DataError: the roster is damaged.
[[nodiscard]] IdentityKey enroll(const std::filesystem::path& identity_file,
                                 const std::filesystem::path& roster_file,
                                 const std::string& name);

}  // namespace sotto
