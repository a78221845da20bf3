#include "store/budget_account_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "core/json_value.hpp"
#include "privacy/loss_json.hpp"
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
    return {json.at("epsilon").number(),
            json.at("delta").number(),
            parse_adjacency("adjacency", json.at("adjacency").text())};
}

/// @throws DataError unless the digest is right, and the signature its owner's.
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

}  // namespace sotto
