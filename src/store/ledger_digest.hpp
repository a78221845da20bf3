#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

/// BLAKE2b-256 of what a ledger claims, in hexadecimal digits. Of one that is running or failed,
/// and so counts all planned rounds, that is everything but the status, the rounds completed so far
/// and the views so far: its digest is fixed before the first message.
/// @param ledger text of ledger.json.  @throws DataError if it is none.
[[nodiscard]] std::string ledger_digest(std::string_view ledger);

/// The manifest's text with "ledger_blake2b": the ledgers that may stand beside it. Two while a new
/// one takes the place of another.
[[nodiscard]] std::string with_ledger_digests(const std::string& manifest,
                                              const std::vector<std::string>& digests);

/// agents/<agent>/ledger.blake2b, which every agent's own process writes: digests, one a line.
[[nodiscard]] std::filesystem::path ledger_digest_file(const std::filesystem::path& directory,
                                                       int agent);
void write_ledger_digests(const std::filesystem::path& file,
                          const std::vector<std::string>& digests);
/// Empty where there is no such file. @throws DataError for one that holds something else.
[[nodiscard]] std::vector<std::string> read_ledger_digests(const std::filesystem::path& file);

/// The text of a run's ledger.json, as the last manifest and the copies in the directory of all
/// agents that have not left name it. Who changes ledger, manifest and all copies is found by
/// comparing with an agent's copy elsewhere only.
/// @throws DataError naming the file that is not as it was written.
[[nodiscard]] std::string read_sealed_ledger(const std::filesystem::path& directory);

}  // namespace sotto
