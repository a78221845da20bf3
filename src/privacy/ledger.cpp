#include "sotto/privacy/ledger.hpp"

#include <algorithm>
#include <cmath>

#include "core/json_output.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

/// tail_delta of the agent that the observer comes closest to. Of agents without a finite guarantee
/// nothing is claimed.
double largest_tail_delta(const PrivacyPhase& phase, const Eigen::VectorXd& precision) {
    if (phase.plan.noiseless() || phase.rounds == 0) return 0;
    const Eigen::VectorXd shifts = largest_round_shifts(phase.plan, phase.use, phase.rounds);
    double largest = 0;
    for (Eigen::Index u = 0; u < precision.size(); ++u) {
        const double shift =
            phase.sensitivity[static_cast<std::size_t>(u)] * std::sqrt(precision(u)) * shifts(u);
        if (std::isfinite(shift)) largest = std::max(largest, shift);
    }
    return tail_delta(phase.plan.distribution(), largest);
}

}  // namespace

Ledger::Ledger(PrivacyRecord record) : record_(std::move(record)) {
    const int colluders = record_.now().plan.coalition_size;
    for (const PrivacyPhase& phase : record_.phases) {
        precisions_.push_back(coalition_precision(phase.plan, colluders));
        value_tails_.push_back(record_.dimension > 0 ? largest_tail_delta(phase, precisions_.back())
                                                     : 0);
    }
}

Tails Ledger::tails(long rounds) const {
    Tails tails;
    for (std::size_t k = 0; k < record_.phases.size(); ++k) {
        const PrivacyPhase& phase = record_.phases[k];
        const bool now = k + 1 == record_.phases.size();
        const double values = static_cast<double>(now ? rounds_now(rounds) : phase.rounds) *
                              static_cast<double>(record_.dimension) *
                              static_cast<double>(phase.plan.streams.size());
        tails.values += values;
        tails.delta += values * value_tails_[k];
    }
    tails.delta = std::min(1.0, tails.delta);
    tails.most = delta() > 0 ? largest_tail_share * delta() : largest_tail_of_pure;
    return tails;
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

std::vector<Guarantee> Ledger::guarantees_of(const PrivacyLosses& losses, long rounds) const {
    // Nothing left of delta: no epsilon holds, unless it is pure.
    const double left = std::max(0.0, delta() - tails(rounds).delta);
    std::vector<Guarantee> result;
    for (int u = 0; u < record_.agents(); ++u) result.push_back(losses.guarantee(u, left));
    return result;
}

PrivacyLosses Ledger::losses_after(long rounds) const {
    return losses(rounds, [&](std::size_t phase) { return precisions_[phase]; });
}

PrivacyLosses Ledger::losses_in(std::size_t phase, long rounds) const {
    const PrivacyPhase& one = record_.phases[phase];
    const bool now = phase + 1 == record_.phases.size();
    PrivacyLosses losses(record_.agents());
    losses.add(one, now ? rounds_now(rounds) : one.rounds, precisions_[phase]);
    return losses;
}

std::vector<Guarantee> Ledger::after(long rounds) const {
    return guarantees_of(losses_after(rounds), rounds);
}

Guarantee Ledger::after(long rounds, int number) const {
    return losses_after(rounds).guarantee(number, std::max(0.0, delta() - tails(rounds).delta));
}

Guarantee Ledger::largest_after(long rounds) const {
    const PrivacyLosses losses = losses_after(rounds);
    const double left = std::max(0.0, delta() - tails(rounds).delta);
    PrivacyLoss worst = losses.worst_of(0, left);
    for (int u = 1; u < record_.agents(); ++u)
        if (PrivacyLoss loss = losses.worst_of(u, left); worst.less_at(left, loss))
            worst = std::move(loss);
    return guarantee_of(worst, left);
}

double Ledger::epsilon_after(long rounds) const { return largest_after(rounds).epsilon; }

double Ledger::mu_after(long rounds) const {
    return largest_after(rounds).loss.mu().value_or(not_a_number);
}

Guarantee Ledger::against_eavesdropper(long rounds) const {
    return largest(guarantees_of(losses(rounds,
                                        [&](std::size_t phase) {
                                            return observed_precision(record_.phases[phase].plan,
                                                                      {});
                                        }),
                                 rounds));
}

std::optional<CuriousAgent> Ledger::worst_curious_agent(long rounds) const {
    const int agents = record_.agents();
    const double left = std::max(0.0, delta() - tails(rounds).delta);
    // To whom every target loses most; epsilons of sampled rounds cost something.
    std::vector<std::optional<std::pair<int, PrivacyLoss>>> most(static_cast<std::size_t>(agents));
    std::vector<ObservedPrecisions> precisions;
    for (const PrivacyPhase& phase : record_.phases) precisions.emplace_back(phase.plan);
    for (int observer = 0; observer < agents; ++observer) {
        const PrivacyLosses seen = losses(rounds, [&](std::size_t k) {
            return precisions[k].of({record_.phases[k].members.places({observer})});
        });
        for (int target = 0; target < agents; ++target) {
            auto& known = most[static_cast<std::size_t>(target)];
            if (target == observer) continue;
            PrivacyLoss loss = seen.worst_of(target, left);
            if (!known || known->second.less_at(left, loss)) known = {observer, std::move(loss)};
        }
    }
    std::optional<CuriousAgent> worst;
    for (int target = 0; target < agents; ++target)
        if (const auto& known = most[static_cast<std::size_t>(target)]) {
            Guarantee found = guarantee_of(known->second, left);
            if (!worst || worst->guarantee < found)
                worst = CuriousAgent{known->first, target, std::move(found)};
        }
    return worst;
}

long Ledger::rounds_accounted(long rounds) const {
    long sent = rounds_now(rounds);
    for (const PrivacyPhase& phase : record_.past()) sent += phase.rounds;
    return sent;
}

}  // namespace sotto
