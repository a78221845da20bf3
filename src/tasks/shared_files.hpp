#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/sealed_memory.hpp"
#include "learn/table.hpp"
#include "net/control.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto {

/// What is read of a file; tables are encoded once all agents agree on their meaning.
using DataFile = std::variant<Dataset, Table>;

struct ReadFile {
    DataFile data;
    Digest digest{};  ///< digest_of_records or digest_of_table
};

/// Reads a file whose format is recognised by its content. LOCAL. @throws DataError.
[[nodiscard]] ReadFile read_with_digest(const std::string& path);

/// Reads files that all processes read. One process of a host reads for all others there, so that
/// they neither unpack, parse nor digest the files again. A process takes records only from a
/// process of its own user on its own host, which could as well change its files and itself, in
/// memory that nobody can change any more, and only where both see the same files: the same
/// devices, inodes, sizes and times. Otherwise it reads for itself. COLLECTIVE.
/// @param files as this process names them.
/// @throws DataError, the same on every process, as read_with_digest.
[[nodiscard]] std::vector<ReadFile> read_shared_files(Control& network,
                                                      const std::vector<std::string>& files);

/// All that is read of these files, for other processes. LOCAL. @return nothing if a file cannot be
/// read or changes meanwhile, or there is no such memory.
[[nodiscard]] std::optional<SealedMemory> packed_files(const std::vector<std::string>& files);
/// Nothing unless `memory` has these files as they are now, packed by this build. LOCAL.
[[nodiscard]] std::optional<std::vector<ReadFile>> unpacked_files(
    const SealedMemory& memory, const std::vector<std::string>& files);

}  // namespace sotto
