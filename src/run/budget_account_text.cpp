#include "run/budget_account_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "privacy/loss_json.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/json_input.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view account_format = "sotto-budget-account";

/// @throws DataError unless it is an object with exactly these keys.
void require_keys(const Json& json, std::initializer_list<std::string_view> keys) {
    if (!json.is_object()) throw DataError("an object is missing");
    for (const auto& [key, value] : json.items())
        if (std::ranges::find(keys, key) == keys.end())
            throw DataError(fmt::format("there is no '{}' in an account", key.substr(0, 40)));
    for (const std::string_view key : keys)
        if (!json.contains(key)) throw DataError(fmt::format("'{}' is missing", key));
}

double account_number(const Json& json) {
    if (!json.is_number())
        throw DataError(fmt::format("a {} stands for a number", json.type_name()));
    return json.get<double>();
}

template <std::size_t size>
std::array<std::uint8_t, size> bytes_from(const Json& json, std::string_view key) {
    std::array<std::uint8_t, size> bytes{};
    if (!json.is_string() || !from_hex(json.get_ref<const std::string&>(), bytes))
        throw DataError(fmt::format("'{}' is damaged", key));
    return bytes;
}

AccountEntry entry_from(const Json& json) {
    require_keys(json, {"run", "time", "mechanism", "rounds", "loss", "left", "state"});
    AccountEntry entry;
    entry.run = bytes_from<sizeof(Digest)>(json.at("run"), "run");
    entry.time = json.at("time").get<std::string>();
    entry.mechanism = json.at("mechanism").get<std::string>();
    entry.rounds = integer_from_json<long>(json.at("rounds"));
    entry.loss = loss_from_json(json.at("loss"));
    entry.left = loss_from_json(json.at("left"));
    const Json& state = json.at("state");
    entry.settled = state == "settled";
    if (!entry.settled && state != "reserved")
        throw DataError("a state is neither 'reserved' nor 'settled'");
    return entry;
}

AccountLimit account_limit_from(const Json& json) {
    return {account_number(json.at("epsilon")),
            account_number(json.at("delta")),
            parse_adjacency("adjacency", json.at("adjacency").get<std::string>())};
}

KeptAccount account_from(const Json& json) {
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
    if (json.at("format") != account_format || json.at("version") != 1)
        throw DataError("it has another format");
    if (!json.at("entries").is_array()) throw DataError("its entries are missing");
    std::vector<AccountEntry> entries;
    if (json.at("entries").size() > BudgetAccount::most_entries)
        throw DataError(fmt::format("it has {} entries, more than {}",
                                    json.at("entries").size(),
                                    BudgetAccount::most_entries));
    for (const Json& entry : json.at("entries")) entries.push_back(entry_from(entry));
    KeptAccount kept{BudgetAccount(account_limit_from(json), std::move(entries)), std::nullopt, 0};
    kept.serial = integer_from_json<long>(json.at("serial"));
    if (kept.serial < 0) throw DataError("'serial' is damaged");
    if (!json.at("owner").is_null())
        kept.owner = bytes_from<sizeof(IdentityKey)>(json.at("owner"), "owner");
    const Digest digest = kept.account.digest(
        kept.owner ? std::span<const std::uint8_t>(*kept.owner) : std::span<const std::uint8_t>(),
        kept.serial);
    if (to_hex(digest) != json.at("digest"))
        throw DataError("it was changed after sotto wrote it (its digest is another)");
    if (kept.owner
            ? !signature_is_good(*kept.owner,
                                 digest,
                                 bytes_from<sizeof(Signature)>(json.at("signature"), "signature"))
            : !json.at("signature").is_null())
        throw DataError(
            "it was changed by somebody without its owner's identity (the signature "
            "is wrong)");
    return kept;
}

}  // namespace

std::string account_text(const BudgetAccount& account, long serial, const Identity* signer) {
    const AccountLimit& limit = account.limit();
    Json json;
    json["format"] = account_format;
    json["version"] = 1;
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
                                   {"state", entry.settled ? "settled" : "reserved"}});
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
        return account_from(json_from_text<Json>(text));
    } catch (const nlohmann::json::exception& error) {
        throw DataError(fmt::format("budget account {}: it is damaged ({})", source, error.what()));
    } catch (const Error& error) {
        throw DataError(fmt::format("budget account {}: {}", source, error.what()));
    }
}

}  // namespace sotto
