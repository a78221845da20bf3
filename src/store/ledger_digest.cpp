#include "store/ledger_digest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "core/json_output.hpp"
#include "core/json_value.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/core/json_input.hpp"

namespace sotto {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* digests_key = "ledger_blake2b";
constexpr std::size_t digest_digits = 2 * sizeof(Digest);

/// The number in "manifest-<number>.json"; 0 of "manifest.json".
std::optional<int> number_of_manifest(const std::string& name) {
    constexpr std::string_view stem = "manifest", ending = ".json";
    if (!name.starts_with(stem) || !name.ends_with(ending)) return std::nullopt;
    std::string_view number(name);
    number.remove_prefix(stem.size());
    number.remove_suffix(ending.size());
    if (number.empty()) return 0;
    int result = 0;
    const auto [end, status] =
        std::from_chars(number.data() + 1, number.data() + number.size(), result);
    const bool whole = status == std::errc() && end == number.data() + number.size();
    return number.front() == '-' && whole && result > 0 ? std::optional(result) : std::nullopt;
}

/// Of the last start.
fs::path last_manifest(const fs::path& directory) {
    int last = -1;
    fs::path file = directory / "manifest.json";
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(directory, failure))
        if (const auto number = number_of_manifest(entry.path().filename().string());
            number && *number > last) {
            last = *number;
            file = entry.path();
        }
    return file;
}

std::vector<std::string> digests_in_manifest(const fs::path& file) {
    const std::string text = read_file(file);
    std::vector<std::string> digests;
    try {
        const JsonDocument document(text);
        for (const JsonValue& digest : document.root().at(digests_key).items())
            digests.push_back(digest.text());
    } catch (const DataError& error) {
        throw DataError(fmt::format(
            "{}: it does not name the ledger beside it ({})", file.string(), error.what()));
    }
    return digests;
}

/// Whose copies name an earlier ledger: numbers.
std::set<std::string> agents_that_left(const std::string& ledger) {
    std::set<std::string> left;
    const JsonDocument document(ledger);
    const auto agents = document.root().find("agents");
    if (!agents) return left;
    for (const JsonValue& agent : agents->items())
        if (agent.find("left_after")) left.insert(std::to_string(agent.at("agent").integer<int>()));
    return left;
}

void require_named(const fs::path& by,
                   const std::vector<std::string>& digests,
                   const fs::path& ledger,
                   const std::string& digest) {
    if (std::ranges::find(digests, digest) == digests.end())
        throw DataError(
            fmt::format("{}: it is not the ledger that was written: its digest is {}, {} has {}",
                        ledger.string(),
                        digest,
                        by.string(),
                        fmt::join(digests, ", ")));
}

}  // namespace

std::string ledger_digest(std::string_view ledger) {
    const JsonDocument document(ledger);
    document.require_format("sotto-ledger", 2);
    const std::string status = document.root().at("status").text();
    (void)document.root().at("rounds").members();
    Json claims = json_from_text<Json>(ledger);
    if (status == "running" || status == "failed") {
        claims.erase("status");
        claims.erase("views");
        claims["rounds"].erase("completed");
    }
    Hasher hasher("sotto.ledger.v1");
    return to_hex(hasher.add(claims.dump()).finish());
}

std::string with_ledger_digests(const std::string& manifest,
                                const std::vector<std::string>& digests) {
    Json json = json_from_text<Json>(manifest);
    json[digests_key] = digests;
    return to_text(json);
}

fs::path ledger_digest_file(const fs::path& directory, int agent) {
    return directory / "agents" / std::to_string(agent) / "ledger.blake2b";
}

void write_ledger_digests(const fs::path& file, const std::vector<std::string>& digests) {
    write_file_atomically(file, fmt::format("{}\n", fmt::join(digests, "\n")), Readers::owner);
}

std::vector<std::string> read_ledger_digests(const fs::path& file) {
    constexpr std::uint64_t most_bytes = 4096;
    std::vector<std::string> digests;
    if (!fs::exists(file)) return digests;
    std::istringstream lines(read_file(file, most_bytes));
    for (std::string line; std::getline(lines, line);) {
        if (Digest digest{}; !from_hex(line, digest))
            throw DataError(
                fmt::format("{}: it is damaged; a line must be a digest of {} hexadecimal "
                            "digits",
                            file.string(),
                            digest_digits));
        digests.push_back(line);
    }
    return digests;
}

std::string read_sealed_ledger(const fs::path& directory) {
    const fs::path file = directory / "ledger.json";
    std::string text = read_file(file);
    std::string digest;
    try {
        digest = ledger_digest(text);
    } catch (const DataError& error) {
        throw DataError(fmt::format("{}: it is damaged ({})", file.string(), error.what()));
    }
    const fs::path manifest = last_manifest(directory);
    require_named(manifest, digests_in_manifest(manifest), file, digest);
    const std::set<std::string> left = agents_that_left(text);
    std::error_code failure;
    std::set<fs::path> copies;
    for (const auto& agent : fs::directory_iterator(directory / "agents", failure))
        if (!left.contains(agent.path().filename().string()))
            copies.insert(agent.path() / "ledger.blake2b");
    for (const fs::path& copy : copies) {
        const std::vector<std::string> digests = read_ledger_digests(copy);
        if (!digests.empty()) require_named(copy, digests, file, digest);
    }
    return text;
}

}  // namespace sotto
