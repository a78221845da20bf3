// A budget account: a file that may have been damaged, changed or made by somebody else. The bytes
// are read as they are, and a good account is read after changes to its values.

#include "sotto/core/hash.hpp"
#include "store/budget_account_file.hpp"
#include "support.hpp"

using namespace sotto;

namespace {

BudgetAccount good_account() {
    BudgetAccount account({10, 1e-5, Adjacency::record});
    AccountEntry entry;
    entry.time = "2026-01-01T00:00:00Z";
    entry.mechanism = "pairs";
    entry.rounds = 100;
    entry.loss = PrivacyLoss::gaussian(1);
    account.reserve(entry);
    AccountEntry left = entry;
    left.loss = PrivacyLoss::gaussian(0.5);
    left.rounds = 25;
    account.settle(left);
    entry.phases = {{.sessions = {Digest{}}, .rounds = 100}};
    entry.run.fill(1);
    entry.loss = PrivacyLoss::pure(0.25);
    account.reserve(entry);
    return account;
}

/// What was accepted is an account, and stays one on its way to a file and back.
void require_sound(const KeptAccount& kept, const Identity& other) {
    const AccountLimit& limit = kept.account.limit();
    fuzz::require(limit.epsilon > 0 && limit.delta >= 0 && limit.delta < 1 && kept.serial >= 0);
    fuzz::require(kept.account.epsilon_spent() >= 0);
    for (const AccountEntry& entry : kept.account.entries())
        fuzz::require(!entry.loss.infinite() && !entry.loss.less_at(limit.delta, entry.left));
    const KeptAccount again =
        account_from_text(account_text(kept.account, kept.serial, &other), "again");
    fuzz::require(again.owner == other.public_key());
    fuzz::require(again.account.digest({}, 0) == kept.account.digest({}, 0));
    BudgetAccount charged = kept.account;
    AccountEntry run;
    run.run.fill(0xab);
    run.loss = PrivacyLoss::gaussian(0.1);
    (void)fuzz::accepts([&] { charged.reserve(run); });
    if (charged.entries().size() > kept.account.entries().size())
        fuzz::require(charged.epsilon_spent() <= limit.epsilon * (1 + 1e-8));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::restart_randomness();
    static const Identity owner = Identity::generate();
    const auto read = [&](const std::string& text) -> std::optional<KeptAccount> {
        std::optional<KeptAccount> kept;
        if (fuzz::accepts([&] { kept = account_from_text(text, "account"); }))
            require_sound(*kept, owner);
        return kept;
    };
    (void)read(std::string(fuzz::text_of(data, size)));
    // Signed, and then changed by somebody without the identity: no other account may come of it.
    const BudgetAccount account = good_account();
    const std::string text = account_text(account, 3, &owner);
    const auto changed = read(fuzz::Changes(data, size).apply(text));
    if (changed && changed->owner == owner.public_key())
        fuzz::require(changed->serial == 3 &&
                      changed->account.digest({}, 0) == account.digest({}, 0));
    return 0;
}
