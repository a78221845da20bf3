#include "sotto/privacy/ledger.hpp"

#include "core/json_output.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

Ledger::Ledger(PrivacyRecord record) : record_(std::move(record)) {
    const int colluders = record_.now().plan.coalition_size;
    for (const PrivacyPhase& phase : record_.phases)
        precisions_.push_back(coalition_precision(phase.plan, colluders));
}

template <class PrecisionOf>
PrivacyLosses Ledger::losses(long rounds, PrecisionOf&& precision_of) const {
    PrivacyLosses sum(record_.agents());
    const std::size_t now = record_.phases.size() - 1;
    for (std::size_t k = 0; k <= now; ++k) {
        const PrivacyPhase& phase = record_.phases[k];
        sum.add(phase, k == now ? rounds_now(rounds) : phase.rounds, precision_of(k));
    }
    return sum;
}

std::vector<Guarantee> Ledger::guarantees_of(const PrivacyLosses& losses) const {
    std::vector<Guarantee> result;
    for (int u = 0; u < record_.agents(); ++u) result.push_back(losses.guarantee(u, delta()));
    return result;
}

PrivacyLosses Ledger::losses_after(long rounds) const {
    return losses(rounds, [&](std::size_t phase) { return precisions_[phase]; });
}

std::vector<Guarantee> Ledger::after(long rounds) const {
    return guarantees_of(losses_after(rounds));
}

double Ledger::epsilon_after(long rounds) const { return largest(after(rounds)).epsilon; }

double Ledger::mu_after(long rounds) const {
    return largest(after(rounds)).loss.mu().value_or(not_a_number);
}

Guarantee Ledger::against_eavesdropper(long rounds) const {
    return largest(guarantees_of(losses(rounds, [&](std::size_t phase) {
        return observed_precision(record_.phases[phase].plan, {});
    })));
}

std::optional<CuriousAgent> Ledger::worst_curious_agent(long rounds) const {
    std::optional<CuriousAgent> worst;
    const int agents = record_.agents();
    for (int observer = 0; observer < agents; ++observer) {
        const auto against = guarantees_of(losses(rounds, [&](std::size_t k) {
            const PrivacyPhase& phase = record_.phases[k];
            return observed_precision(phase.plan, {phase.members.places({observer})});
        }));
        for (int target = 0; target < agents; ++target) {
            const Guarantee& found = against[static_cast<std::size_t>(target)];
            if (target != observer && (!worst || worst->guarantee < found))
                worst = CuriousAgent{observer, target, found};
        }
        if (worst && worst->guarantee.infinite()) break;
    }
    return worst;
}

long Ledger::rounds_accounted(long rounds) const {
    long sent = rounds_now(rounds);
    for (const PrivacyPhase& phase : record_.past()) sent += phase.rounds;
    return sent;
}

}  // namespace sotto
