#include "store/budget_account_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>
#include <utility>

#include "core/json.hpp"
#include "core/stopwatch.hpp"
#include "privacy/ledger_json.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view account_format = "sotto-budget-account";

/// @throws DataError unless it is an object with exactly these keys.
void require_keys(const JsonValue& json, std::initializer_list<std::string_view> keys) {
    for (const auto& [key, value] : json.members())
        if (std::ranges::find(keys, key) == keys.end())
            throw DataError(fmt::format("there is no '{}' in an account", key.substr(0, 40)));
    for (const std::string_view key : keys) (void)json.at(key);
}

template <std::size_t size>
std::array<std::uint8_t, size> bytes_from(const JsonValue& json) {
    std::array<std::uint8_t, size> bytes{};
    if (!from_hex(json.text(), bytes)) json.fail(fmt::format("{} hexadecimal digits", 2 * size));
    return bytes;
}

AccountEntry entry_from(const JsonValue& json) {
    require_keys(json, {"run", "time", "mechanism", "rounds", "loss", "left", "state", "phases"});
    AccountEntry entry;
    entry.run = bytes_from<sizeof(Digest)>(json.at("run"));
    entry.time = json.at("time").text();
    entry.mechanism = json.at("mechanism").text();
    entry.rounds = json.at("rounds").integer<long>();
    entry.loss = loss_from_json(json.at("loss"));
    entry.left = loss_from_json(json.at("left"));
    const std::string state = json.at("state").text();
    entry.settled = state == "settled";
    if (!entry.settled && state != "reserved") json.at("state").fail("reserved or settled");
    for (const JsonValue& one : json.at("phases").items()) {
        require_keys(one, {"sessions", "rounds", "counted"});
        AccountPhase& phase = entry.phases.emplace_back();
        for (const JsonValue& session : one.at("sessions").items())
            phase.sessions.push_back(bytes_from<sizeof(Digest)>(session));
        phase.rounds = one.at("rounds").integer<long>(0);
        phase.counted = one.at("counted").boolean();
    }
    return entry;
}

AccountLimit account_limit_from(const JsonValue& json) {
    const auto unit = json.find("unit_column");
    return {json.at("epsilon").number(),
            json.at("delta").number(),
            parse_adjacency("adjacency", json.at("adjacency").text()),
            unit ? unit->text() : std::string()};
}

/// @throws DataError unless the digest is right and the owner's signature valid.
void require_unchanged(const KeptAccount& kept, const JsonValue& json) {
    const Digest digest = kept.account.digest(
        kept.owner ? std::span<const std::uint8_t>(*kept.owner) : std::span<const std::uint8_t>(),
        kept.serial);
    if (to_hex(digest) != json.at("digest").text())
        throw DataError("it was changed after sotto wrote it (its digest is another)");
    const auto signature = json.find("signature");
    if (kept.owner.has_value() != signature.has_value() ||
        (signature &&
         !signature_is_good(*kept.owner, digest, bytes_from<sizeof(Signature)>(*signature))))
        throw DataError(
            "it was changed by somebody without its owner's identity (the signature "
            "is wrong)");
}

KeptAccount account_from(const JsonDocument& document) {
    document.require_format(account_format, 2);
    const JsonValue json = document.root();
    require_keys(json,
                 {"format",
                  "version",
                  "epsilon",
                  "delta",
                  "adjacency",
                  "unit_column",
                  "serial",
                  "entries",
                  "owner",
                  "digest",
                  "signature"});
    const auto listed = json.at("entries").items();
    if (listed.size() > BudgetAccount::most_entries)
        throw DataError(fmt::format(
            "it has {} entries, more than {}", listed.size(), BudgetAccount::most_entries));
    std::vector<AccountEntry> entries;
    for (const JsonValue& entry : listed) entries.push_back(entry_from(entry));
    KeptAccount kept{BudgetAccount(account_limit_from(json), std::move(entries)), std::nullopt, 0};
    kept.serial = json.at("serial").integer<long>(0);
    if (const auto owner = json.find("owner")) kept.owner = bytes_from<sizeof(IdentityKey)>(*owner);
    require_unchanged(kept, json);
    return kept;
}

}  // namespace

namespace {

Json phases_json(const AccountEntry& entry) {
    Json phases = Json::array();
    for (const AccountPhase& phase : entry.phases) {
        std::vector<std::string> sessions;
        for (const Digest& session : phase.sessions) sessions.push_back(to_hex(session));
        phases.push_back(
            {{"sessions", sessions}, {"rounds", phase.rounds}, {"counted", phase.counted}});
    }
    return phases;
}

}  // namespace

std::string account_text(const BudgetAccount& account, long serial, const Identity* signer) {
    const AccountLimit& limit = account.limit();
    Json json;
    json["format"] = account_format;
    json["version"] = 2;
    json["epsilon"] = limit.epsilon;
    json["delta"] = limit.delta;
    json["adjacency"] = name_of(limit.adjacency);
    json["unit_column"] = limit.unit_column.empty() ? Json() : Json(limit.unit_column);
    json["serial"] = serial;
    json["entries"] = Json::array();
    for (const AccountEntry& entry : account.entries())
        json["entries"].push_back({{"run", to_hex(entry.run)},
                                   {"time", entry.time},
                                   {"mechanism", entry.mechanism},
                                   {"rounds", entry.rounds},
                                   {"loss", loss_json(entry.loss)},
                                   {"left", loss_json(entry.left)},
                                   {"state", entry.settled ? "settled" : "reserved"},
                                   {"phases", phases_json(entry)}});
    std::span<const std::uint8_t> owner;
    if (signer != nullptr) owner = signer->public_key();
    const Digest digest = account.digest(owner, serial);
    json["owner"] = signer != nullptr ? Json(to_hex(owner)) : Json();
    json["digest"] = to_hex(digest);
    json["signature"] = signer != nullptr ? Json(to_hex(signer->sign(digest))) : Json();
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

KeptAccount account_from_text(std::string_view text, const std::string& source) {
    try {
        if (text.size() > most_account_bytes)
            throw DataError(
                fmt::format("it has {} bytes, more than {}", text.size(), most_account_bytes));
        return account_from(JsonDocument(text));
    } catch (const Error& error) {
        throw DataError(fmt::format("budget account {}: {}", source, error.what()));
    }
}

namespace fs = std::filesystem;

namespace {

fs::path beside(fs::path path, const char* ending) { return path += ending; }

/// Requires a regular file (a pipe of this name must not hang the job) for its owner only.
std::string read_private(const fs::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const auto fail = [&](const std::string& reason) {
        return ConfigError(fmt::format("budget account {}: {}", path.string(), reason));
    };
    if (descriptor < 0)
        throw fail(fmt::format("cannot be read ({}); `sotto ledger --open-account` makes one",
                               std::strerror(errno)));
    const std::shared_ptr<const int> open(new int(descriptor), [](const int* held) {
        ::close(*held);
        delete held;
    });
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        throw fail("it is not a file");
    if ((status.st_mode & 077) != 0)
        throw fail(
            fmt::format("its mode {:04o} lets others than its owner access it (allowed: 0600); run "
                        "`chmod 600 {}`",
                        static_cast<unsigned>(status.st_mode & 07777),
                        path.string()));
    std::string text(std::min(static_cast<std::size_t>(status.st_size), most_account_bytes) + 1,
                     '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const ssize_t count = ::read(descriptor, text.data() + size, text.size() - size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw fail(fmt::format("cannot be read ({})", std::strerror(errno)));
        if (count == 0) break;
        size += static_cast<std::size_t>(count);
    }
    text.resize(size);
    return text;
}

/// @throws ConfigError if another process keeps it.
FileLock wait_for_lock(const fs::path& path, double patience_seconds) {
    const fs::path file = beside(path, ".lock");
    const auto start = Clock::now();
    for (;;) {
        if (auto lock = FileLock::take(file)) {
            std::error_code ignored;
            fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write, ignored);
            return std::move(*lock);
        }
        if (seconds_since(start) >= patience_seconds)
            throw ConfigError(
                fmt::format("budget account {}: another run has been using it for {:g} s; try "
                            "again, and give every rank a file of its own (%r is the agent)",
                            path.string(),
                            patience_seconds));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

/// Number of writes; 0 if there is no such file.
long kept_serial(const fs::path& path) {
    std::error_code missing;
    const fs::path file = beside(path, ".serial");
    if (!fs::exists(file, missing)) return 0;
    const std::string text = read_private(file);
    long serial = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), serial);
    if (status != std::errc() || serial < 0 || std::string_view(end) != "\n")
        throw DataError(
            fmt::format("budget account {}: {} is damaged", path.string(), file.string()));
    return serial;
}

void require_not_older(const fs::path& path, long serial) {
    const long last = kept_serial(path);
    if (serial >= last) return;
    throw DataError(fmt::format(
        "budget account {}: it is an older copy (written {} times, {} says {}); what runs have "
        "spent since then would be forgotten. Put the newest copy back",
        path.string(),
        serial,
        beside(path, ".serial").string(),
        last));
}

void require_owner(const fs::path& path, const KeptAccount& kept, const Identity* identity) {
    const auto fail = [&](std::string_view reason) {
        return DataError(fmt::format("budget account {}: {}", path.string(), reason));
    };
    if (identity == nullptr && kept.owner)
        throw fail("it is signed by an identity; give --identity (and --roster)");
    if (identity != nullptr && !kept.owner)
        throw fail(
            "it is not signed, and this agent has an identity; open a new one with "
            "`sotto ledger --open-account FILE --identity FILE`");
    if (identity != nullptr && *kept.owner != identity->public_key())
        throw fail("it is the account of another identity");
}

void write_private(const fs::path& path, std::string_view text) {
    write_file_atomically(path, text, Readers::owner);
}

}  // namespace

BudgetAccountFile::BudgetAccountFile(fs::path path,
                                     FileLock lock,
                                     const Identity* identity,
                                     KeptAccount kept)
    : path_(std::move(path)),
      lock_(std::move(lock)),
      identity_(identity),
      kept_(std::move(kept)),
      before_(kept_.account) {}

BudgetAccountFile BudgetAccountFile::hold(const fs::path& path,
                                          const Identity* identity,
                                          double patience_seconds) {
    std::error_code missing;
    const fs::path target = fs::canonical(path, missing);
    // Only an account gets a lock file.
    if (missing) (void)read_private(path);
    (void)account_from_text(read_private(target), path.string());
    FileLock lock = wait_for_lock(target, patience_seconds);
    KeptAccount kept = account_from_text(read_private(target), path.string());
    require_owner(path, kept, identity);
    require_not_older(target, kept.serial);
    return {target, std::move(lock), identity, std::move(kept)};
}

void BudgetAccountFile::create(const fs::path& path,
                               const AccountLimit& limit,
                               const Identity* identity) {
    const std::string text = account_text(BudgetAccount(limit), 0, identity);
    std::error_code missing;
    if (fs::exists(beside(path, ".serial"), missing))
        throw ConfigError(
            fmt::format("open-account: {} exists: there was an account {}; name another file",
                        beside(path, ".serial").string(),
                        path.string()));
    if (!create_file(path, text, Readers::owner))
        throw ConfigError(fmt::format(
            "open-account: {} exists already and is never overwritten; name another file",
            path.string()));
}

KeptAccount BudgetAccountFile::look(const fs::path& path) {
    KeptAccount kept = account_from_text(read_private(path), path.string());
    require_not_older(fs::canonical(path), kept.serial);
    return kept;
}

void BudgetAccountFile::write() {
    const long serial = kept_.serial + 1;
    write_private(path_, account_text(kept_.account, serial, identity_));
    kept_.serial = serial;
    // After the account, so that after a crash the account is newer, not older.
    write_private(beside(path_, ".serial"), fmt::format("{}\n", serial));
}

void BudgetAccountFile::restore() {
    kept_.account = before_;
    write();
}

}  // namespace sotto
