#include "commands/ledger/kept_account_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

std::string state_of(const AccountEntry& entry) { return entry.settled ? "settled" : "reserved"; }

double epsilon_of(const PrivacyLoss& loss, const AccountLimit& limit) {
    return loss.epsilon(limit.delta).upper;
}

/// Epsilon of the largest run with Gaussian noise that still fits.
double epsilon_left(const BudgetAccount& account) {
    const PrivacyLoss left = account.largest_left(account.spent(), PrivacyLoss::gaussian(1));
    return epsilon_of(left, account.limit());
}

}  // namespace

std::string kept_account_text(const KeptAccount& kept, const std::string& path) {
    const BudgetAccount& account = kept.account;
    const AccountLimit& limit = account.limit();
    std::string text =
        fmt::format("account    {}, {}\nallowed    epsilon {:.6g} at delta {:g}, adjacency {}\n",
                    path,
                    kept.owner ? fmt::format("signed by {}", to_hex(*kept.owner))
                               : std::string("not signed: whoever can write it can change it"),
                    limit.epsilon,
                    limit.delta,
                    name_of(limit.adjacency));
    for (const AccountEntry& entry : account.entries())
        text += fmt::format("{}  {:<12} {:>8} rounds  epsilon {:<10.6g} {}\n",
                            entry.time,
                            entry.mechanism,
                            entry.rounds,
                            epsilon_of(entry.loss, limit),
                            state_of(entry));
    return text + fmt::format("spent      epsilon {:.6g}; a run may still ask for {:.6g}\n",
                              account.epsilon_spent(),
                              epsilon_left(account));
}

std::string kept_account_json(const KeptAccount& kept, const std::string& path) {
    const BudgetAccount& account = kept.account;
    const AccountLimit& limit = account.limit();
    Json json;
    json["account"] = path;
    json["epsilon"] = limit.epsilon;
    json["delta"] = limit.delta;
    json["adjacency"] = name_of(limit.adjacency);
    json["owner"] = kept.owner ? Json(to_hex(*kept.owner)) : Json();
    json["epsilon_spent"] = account.epsilon_spent();
    json["epsilon_left"] = epsilon_left(account);
    json["entries"] = Json::array();
    for (const AccountEntry& entry : account.entries())
        json["entries"].push_back({{"run_id", to_hex(entry.run)},
                                   {"time", entry.time},
                                   {"mechanism", entry.mechanism},
                                   {"rounds", entry.rounds},
                                   {"epsilon", epsilon_of(entry.loss, limit)},
                                   {"state", state_of(entry)}});
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sotto
