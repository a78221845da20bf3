#include "training/run_accounts.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "config/agent_path.hpp"
#include "core/disk.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "core/output.hpp"
#include "privacy/ledger_json.hpp"
#include "sotto/core/error.hpp"
#include "store/recorded_ledger.hpp"
#include "store/run_directory.hpp"
#include "training/convex_run.hpp"

namespace sotto {

namespace {

/// An account and the local agents whose data it covers.
struct AccountHolder {
    std::string path;
    std::vector<int> numbers;            ///< of local agents, ascending
    const Identity* identity = nullptr;  ///< of the only agent; null: there are several, or none
    PrivacyLoss loss;                    ///< of the whole run
    std::vector<PrivacyLoss> of_phases;  ///< of each phase alone
    long rounds = 0;                     ///< of the run that count
};

std::string words_for(const AccountHolder& holder) {
    return fmt::format(
        "agent{} {}", holder.numbers.size() == 1 ? "" : "s", fmt::join(holder.numbers, ","));
}

/// The largest loss of an account's agents in any pattern, because the account adds other runs.
/// @param losses after the rounds that count.
PrivacyLoss loss_of(const AccountHolder& holder, const PrivacyLosses& losses, double delta) {
    PrivacyLoss worst = losses.bound_of(holder.numbers.front());
    for (const int number : holder.numbers)
        if (PrivacyLoss loss = losses.bound_of(number); worst.less_at(delta, loss)) worst = loss;
    return worst;
}

/// Whether the phase is in the agents' own records. Phases that only rank 0's history has count as
/// a loss, but must not make this run look like another one in the account.
bool is_own(const PreparedRun& prepared, std::size_t phase) {
    return !prepared.resumption || phase + 1 == prepared.ledger.record().phases.size() ||
           std::ranges::binary_search(prepared.resumption->recorded, static_cast<int>(phase));
}

/// Ordered by path, so that all processes of a host lock in the same order.
std::vector<AccountHolder> account_holders(const PreparedRun& prepared, long rounds) {
    const Run& run = prepared.run;
    if (!run.config.budget_account) return {};
    std::map<std::string, AccountHolder> by_path;
    const auto places = run.network.local_agents();
    for (std::size_t a = 0; a < places.size(); ++a) {
        const int number = run.members.number(places[a]);
        const std::string path = path_of_agent(*run.config.budget_account, number);
        AccountHolder& holder = by_path[path];
        holder.path = path;
        holder.numbers.push_back(number);
        if (run.credentials) holder.identity = &run.credentials->identities[a];
    }
    const PrivacyLosses losses = prepared.ledger.losses_after(rounds);
    std::vector<AccountHolder> holders;
    for (auto& [path, holder] : by_path) {
        holder.rounds = rounds;
        holder.loss = loss_of(holder, losses, prepared.ledger.delta());
        for (std::size_t k = 0; k < prepared.ledger.record().phases.size(); ++k)
            if (is_own(prepared, k))
                holder.of_phases.push_back(
                    loss_of(holder, prepared.ledger.losses_in(k, rounds), prepared.ledger.delta()));
        holders.push_back(std::move(holder));
    }
    return holders;
}

std::string time_now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

/// With several processes, the error shows neither the account's content nor what is wrong with it:
/// a launcher would show standard error to others. @throws Error.
[[noreturn]] void refuse_run(const AccountHolder& holder,
                             const Control& network,
                             const Error& why) {
    const std::string who = words_for(holder);
    if (network.processes() == 1)
        throw_error(why.exit_code(), fmt::format("{}: {}", who, why.what()));
    const std::string reason = holder.path + ".refusal";
    try {
        write_file_atomically(
            reason, fmt::format("{} {}\n", time_now(), why.what()), Readers::owner);
    } catch (const Error& unwritten) {
        print_error_line(fmt::format(
            "rank {}, {}: the reason is not kept ({})", network.process(), who, unwritten.what()));
    }
    throw PrivacyError(
        fmt::format("{}: the budget account does not allow this run (the reason is next to it on "
                    "its own host, in a file with the ending .refusal)",
                    who));
}

std::vector<AccountPhase> phases_of(const PreparedRun& prepared, long rounds) {
    const PrivacyRecord& record = prepared.ledger.record();
    std::vector<AccountPhase> phases;
    for (std::size_t k = 0; k < record.phases.size(); ++k) {
        const PrivacyPhase& phase = record.phases[k];
        if (is_own(prepared, k))
            phases.push_back({phase.sessions,
                              k + 1 == record.phases.size() ? prepared.ledger.rounds_now(rounds)
                                                            : phase.rounds});
    }
    return phases;
}

AccountEntry entry_of(const PreparedRun& prepared, const AccountHolder& holder) {
    return {
        .run = prepared.history.run,
        .time = time_now(),
        .mechanism = prepared.run.plan.mechanism.substr(0, BudgetAccount::most_mechanism_letters),
        .rounds = prepared.ledger.rounds_accounted(holder.rounds),
        .loss = holder.loss,
        .left = {},
        .settled = false,
        .phases = phases_of(prepared, holder.rounds)};
}

void require_same_unit(const BudgetAccount& account, const PreparedRun& prepared) {
    const AccountLimit& limit = account.limit();
    const PrivacyRecord& record = prepared.ledger.record();
    if (record.unit_agents > 1)
        throw PrivacyError(fmt::format(
            "it counts losses of persons at one agent, this run protects {} ({}); the two do not "
            "add up (allowed: --unit-agents 1)",
            protected_unit(record.adjacency, record.unit_column, record.unit_agents),
            unit_options(record.adjacency, record.unit_column, record.unit_agents)));
    if (limit.adjacency == record.adjacency && limit.unit_column == record.unit_column) return;
    throw PrivacyError(fmt::format(
        "it counts losses of {} ({}), this run protects {} ({}); the two do not add up (train "
        "with the options of the account, or open an account with those of the run: sotto ledger "
        "--open-account FILE --epsilon E --delta D {})",
        protected_unit(limit.adjacency, limit.unit_column),
        unit_options(limit.adjacency, limit.unit_column),
        protected_unit(record.adjacency, record.unit_column),
        unit_options(record.adjacency, record.unit_column),
        unit_options(record.adjacency, record.unit_column)));
}

AccountUse use_of(const BudgetAccountFile& file,
                  const AccountHolder& holder,
                  const PreparedRun& prepared) {
    const BudgetAccount& account = file.account();
    const AccountLimit& limit = account.limit();
    return {
        .path = holder.path,
        .epsilon = limit.epsilon,
        .delta = limit.delta,
        .before = account.spent_by_others(prepared.history.run, phases_of(prepared, holder.rounds))
                      .epsilon(limit.delta)
                      .upper,
        .after = account.epsilon_spent(),
        .is_signed = file.is_signed()};
}

bool has_less_left(const AccountUse& one, const std::optional<AccountUse>& other) {
    return !other || one.epsilon - one.after < other->epsilon - other->after;
}

/// @throws PrivacyError if the account does not allow the run.
void reserve_in(BudgetAccount& account,
                const PreparedRun& prepared,
                const AccountHolder& holder) try {
    require_same_unit(account, prepared);
    account.reserve(entry_of(prepared, holder), holder.of_phases);
} catch (const PrivacyError& why) {
    throw PrivacyError(fmt::format("budget account {}: {}", holder.path, why.what()));
}

/// Locks the accounts of this process with the run added in memory; writes nothing. LOCAL.
std::vector<BudgetAccountFile> hold_accounts(const PreparedRun& prepared,
                                             const std::vector<AccountHolder>& holders) {
    std::vector<BudgetAccountFile> files;
    for (const AccountHolder& holder : holders) try {
            if (holder.identity != nullptr && holder.numbers.size() > 1)
                throw ConfigError(
                    fmt::format("--budget-account: {} is one file for several agents, each with "
                                "an identity; use %r, which is the agent's number",
                                holder.path));
            files.push_back(BudgetAccountFile::hold(holder.path, holder.identity));
            reserve_in(files.back().account(), prepared, holder);
        } catch (const Error& why) {
            refuse_run(holder, prepared.run.network, why);
        }
    return files;
}

}  // namespace

DeductedRun::DeductedRun(const PreparedRun& prepared) {
    prepared.run.network.agree([&] {
        files_ =
            hold_accounts(prepared, account_holders(prepared, prepared.ledger.record().rounds));
    });
}

void DeductedRun::write(const PreparedRun& prepared) {
    Control& network = prepared.run.network;
    std::vector<AccountHolder> holders;
    network.agree([&] { holders = account_holders(prepared, prepared.ledger.record().rounds); });
    const auto write = [&](std::size_t i) {
        files_[i].write();
        ++written_;
        if (AccountUse own = use_of(files_[i], holders[i], prepared); has_less_left(own, use_))
            use_ = std::move(own);
    };
    try {
        network.agree([&] {
            for (std::size_t i = 0; i < files_.size(); ++i) try {
                    write(i);
                } catch (const Error& why) {
                    refuse_run(holders[i], network, why);
                }
        });
    } catch (const Error&) {
        put_back();
        throw;
    }
}

DeductedRun::~DeductedRun() { put_back(); }

std::optional<AccountUse> DeductedRun::keep() {
    files_.clear();
    written_ = 0;
    return use_;
}

void DeductedRun::put_back() {
    for (std::size_t i = 0; i < written_; ++i) try {
            files_[i].restore();
        } catch (const Error& why) {
            print_error_line(
                fmt::format("{}; a run that did not begin stays deducted", why.what()));
        }
    written_ = 0;
}

void require_accounts_allow(const PreparedRun& prepared) {
    prepared.run.network.agree([&] {
        (void)hold_accounts(prepared, account_holders(prepared, prepared.ledger.record().rounds));
    });
}

std::optional<AccountUse> settle_accounts(const PreparedRun& prepared,
                                          long rounds,
                                          std::optional<AccountUse> use) {
    std::optional<AccountUse> settled;
    for (const AccountHolder& holder : account_holders(prepared, rounds)) try {
            BudgetAccountFile file = BudgetAccountFile::hold(holder.path, holder.identity);
            file.account().settle(entry_of(prepared, holder), holder.of_phases);
            file.write();
            if (AccountUse own = use_of(file, holder, prepared); has_less_left(own, settled))
                settled = std::move(own);
        } catch (const Error& why) {
            print_error_line(fmt::format("{}: what this run did not send stays deducted ({})",
                                         words_for(holder),
                                         why.what()));
        }
    return settled ? settled : use;
}

namespace {

namespace fs = std::filesystem;

/// Most bytes of a ledger: entries of agents, phases and views, and lists of all agents.
std::uint64_t largest_ledger_bytes(const PreparedRun& prepared) {
    constexpr std::uint64_t statements = std::uint64_t{1} << 20, entry = 1024, number = 512;
    const auto agents = static_cast<std::uint64_t>(prepared.ledger.record().agents());
    const std::uint64_t lists =
        prepared.ledger.record().phases.size() + prepared.run.config.views.size();
    return statements + entry * agents + lists * (entry + number * agents);
}

/// Numbers of the agents of this process.
std::vector<int> local_numbers(const Run& run) {
    std::vector<int> numbers;
    for (const int place : run.network.local_agents()) numbers.push_back(run.members.number(place));
    return numbers;
}

/// Checks that process 0 states for each local agent no less than the agent's own count, within
/// rounding: machines may differ in the last digits.
void require_stated(const std::string& text, const OpenRun& open, bool final, long rounds) {
    constexpr double rounding = 1e-6;
    const Ledger& ledger = open.prepared.ledger;
    const JsonDocument document(text);
    require_convex_stated(document.root(), ledger.record().convex);
    const std::vector<JsonValue> stated = document.root().at("agents").items();
    const long counted = final ? rounds : ledger.record().rounds;
    const PrivacyLosses losses = ledger.losses_after(counted);
    const double left = std::max(0.0, ledger.delta() - ledger.tails(counted).delta);
    for (const int number : local_numbers(open.prepared.run)) {
        const auto entry = static_cast<std::size_t>(number);
        if (entry >= stated.size()) throw DataError(fmt::format("agent {} is not in it", number));
        const auto epsilon = stated[entry].find("epsilon");
        if (!epsilon) continue;  // infinite
        const double own = losses.guarantee(number, left).epsilon;
        if (!(epsilon->number() >= own * (1 - rounding)))
            throw DataError(fmt::format("it states epsilon {:.6g} for agent {}, who counts {:.6g}",
                                        epsilon->number(),
                                        number,
                                        own));
    }
}

/// Whether every part of the stated loss is at least that of the own one.
bool states_no_less(const PrivacyLoss& stated, const PrivacyLoss& own) {
    constexpr double rounding = 1e-6;
    if (stated.infinite() || own.infinite()) return stated.infinite();
    const PrivacyLoss::Parts said = stated.parts(), mine = own.parts();
    if (!(said.mu_squared >= mine.mu_squared * (1 - rounding)) ||
        !(said.pure.value_or(0) >= mine.pure.value_or(0) * (1 - rounding)) ||
        said.sampled.size() != mine.sampled.size())
        return false;
    for (std::size_t k = 0; k < mine.sampled.size(); ++k)
        if (said.sampled[k].count < mine.sampled[k].count ||
            said.sampled[k].rounds_an_epoch != mine.sampled[k].rounds_an_epoch ||
            !(said.sampled[k].sampling_probability >= mine.sampled[k].sampling_probability) ||
            !(said.sampled[k].noise_multiplier <=
              mine.sampled[k].noise_multiplier * (1 + rounding)))
            return false;
    return true;
}

/// The same for every phase, since phases are how accounts combine continuations of copies of a
/// run.
void require_phases_stated(const std::string& text, const OpenRun& open, long rounds) {
    const Ledger& ledger = open.prepared.ledger;
    const std::vector<PrivacyPhase>& own = ledger.record().phases;
    const JsonDocument document(text);
    const auto agents = static_cast<std::size_t>(ledger.record().agents());
    const std::vector<RecordedPhase> stated = recorded_phases(document.root(), agents);
    if (stated.size() != own.size()) throw DataError("it has another number of phases");
    for (std::size_t k = 0; k < own.size(); ++k) {
        std::vector<std::string> sessions;
        for (const Digest& session : own[k].sessions) sessions.push_back(to_hex(session));
        if (stated[k].sessions != sessions)
            throw DataError(fmt::format("phase {} has other sessions", k));
        const PrivacyLosses losses = ledger.losses_in(k, rounds);
        for (const int number : local_numbers(open.prepared.run))
            if (!states_no_less(stated[k].losses[static_cast<std::size_t>(number)],
                                losses.bound_of(number)))
                throw DataError(fmt::format(
                    "it states less for agent {} in phase {} than the agent counts", number, k));
    }
}

/// Writes the ledger's digest into the copies of the local agents.
void write_copies(const OpenRun& open, const std::string& digest, bool old_too) {
    FileBatch together;
    for (const int number : local_numbers(open.prepared.run)) {
        const fs::path file = ledger_digest_file(open.directory.path(), number);
        create_folder(file.parent_path());
        std::vector<std::string> digests{digest};
        if (old_too)
            for (std::string& old : read_ledger_digests(file)) digests.push_back(std::move(old));
        write_ledger_digests(file, digests);
    }
    together.commit();
}

/// Writes the manifest on process 0.
void write_manifest(const OpenRun& open, const std::string& digest, bool old_too) {
    std::vector<std::string> digests{digest};
    const fs::path ledger = open.directory.path() / "ledger.json";
    if (old_too && fs::exists(ledger)) try {
            digests.push_back(ledger_digest(read_file(ledger)));
        } catch (const DataError&) {
            // A damaged ledger proves nothing and is about to be replaced.
        }
    open.directory.write(open.manifest_file, with_ledger_digests(open.manifest, digests));
}

}  // namespace

void seal_ledger(const OpenRun& open, Ledger::Status status, long rounds) {
    const Run& run = open.prepared.run;
    const bool final = status == Ledger::Status::completed || status == Ledger::Status::interrupted;
    std::string text;
    run.network.agree([&] {
        if (run.leader()) text = to_json(open.prepared.ledger, status, rounds);
    });
    text = run.network.broadcast(text, largest_ledger_bytes(open.prepared));
    std::string digest;
    run.network.agree([&] {
        try {
            digest = ledger_digest(text);
            require_stated(text, open, final, rounds);
            if (!run.leader())
                require_phases_stated(
                    text, open, final ? rounds : open.prepared.ledger.record().rounds);
        } catch (const DataError& error) {
            throw NetworkError(fmt::format("the ledger of rank 0 is not right: {}", error.what()));
        }
        write_copies(open, digest, true);
    });
    run.network.agree([&] {
        if (!run.leader()) return;
        write_manifest(open, digest, true);
        open.directory.write("ledger.json", text);
    });
    run.network.agree([&] {
        write_copies(open, digest, false);
        if (run.leader()) write_manifest(open, digest, false);
    });
}

void write_open_ledger(const OpenRun& open, Ledger::Status status, long rounds) {
    open.directory.write("ledger.json", to_json(open.prepared.ledger, status, rounds));
}

}  // namespace sotto
