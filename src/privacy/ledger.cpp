#include "sotto/privacy/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/json_output.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

constexpr int most_agents_for_pairs = 128;  // n eigendecompositions stay well under a second

void put_guarantee(Json& json, const Guarantee& guarantee) {
    const bool infinite = guarantee.infinite();
    json["mu"] = number_or_null(guarantee.mu);
    json["epsilon"] = infinite ? Json() : Json(guarantee.epsilon);
    json["infinite"] = infinite;
}

const Guarantee& largest(const std::vector<Guarantee>& all) {
    return *std::ranges::max_element(all, std::less());
}

std::string status_name(Ledger::Status status) {
    switch (status) {
        case Ledger::Status::running:
            return "running";
        case Ledger::Status::completed:
            return "completed";
        case Ledger::Status::interrupted:
            return "interrupted";
        case Ledger::Status::failed:
            return "failed";
    }
    return {};
}

}  // namespace

Ledger::Ledger(NoisePlan plan,
               std::vector<Exposure> exposures,
               std::vector<PrivacyBudget> budgets,
               Adjacency adjacency,
               PlanUse use,
               long rounds,
               bool reproducible_noise,
               std::string authentication)
    : budgets_(std::move(budgets)),
      adjacency_(adjacency),
      rounds_(rounds),
      reproducible_noise_(reproducible_noise),
      authentication_(std::move(authentication)) {
    now_.members = Membership::everybody(plan.agents);
    now_.plan = std::move(plan);
    for (const Exposure& exposure : exposures) now_.sensitivity.push_back(exposure.sensitivity);
    now_.use = std::move(use);
    precisions_.push_back(coalition_precision(now_.plan, now_.plan.coalition_size));
}

void Ledger::continue_from(std::vector<PrivacyPhase> past,
                           Membership members,
                           std::uint32_t key_epoch,
                           std::vector<PrivacyBudget> run_budgets) {
    now_.members = std::move(members);
    now_.key_epoch = key_epoch;
    budgets_ = std::move(run_budgets);
    past_ = std::move(past);
    std::vector<Eigen::VectorXd> precisions;
    for (const PrivacyPhase& phase : past_)
        precisions.push_back(coalition_precision(phase.plan, now_.plan.coalition_size));
    precisions.push_back(std::move(precisions_.back()));
    precisions_ = std::move(precisions);
}

template <class PrecisionOf>
PrivacyLosses Ledger::losses(long rounds, PrecisionOf&& precision_of) const {
    PrivacyLosses sum(now_.members.all);
    for (std::size_t k = 0; k < past_.size(); ++k)
        sum.add(past_[k], past_[k].rounds, precision_of(past_[k], k));
    sum.add(now_, rounds_here(rounds), precision_of(now_, past_.size()));
    return sum;
}

std::vector<Guarantee> Ledger::guarantees_of(const PrivacyLosses& losses) const {
    const bool laplace = now_.plan.distribution() == StreamDistribution::laplace;
    std::vector<Guarantee> result;
    for (int u = 0; u < now_.members.all; ++u)
        result.push_back(losses.guarantee(u, laplace, delta()));
    return result;
}

PrivacyLosses Ledger::losses_after(long rounds) const {
    return losses(rounds,
                  [&](const PrivacyPhase&, std::size_t phase) { return precisions_[phase]; });
}

std::vector<Guarantee> Ledger::after(long rounds) const {
    return guarantees_of(losses_after(rounds));
}

double Ledger::mu_after(long rounds) const { return largest(after(rounds)).mu; }

double Ledger::epsilon_after(long rounds) const { return largest(after(rounds)).epsilon; }

std::vector<std::string> Ledger::statements() const {
    std::vector<std::string> lines;
    if (now_.plan.noiseless()) {
        lines.emplace_back(
            "No noise is added: every message reveals a clipped gradient. Epsilon is infinite.");
    } else if (now_.plan.aggregation == Aggregation::trusted_mean) {
        lines.emplace_back(
            "Trusted aggregator: agent 0 sees every message and adds the noise; only the mean it "
            "returns is protected.");
    } else {
        const bool shared = std::any_of(
            now_.plan.groups.begin(), now_.plan.groups.end(), [&](const SeedGroup& group) {
                return static_cast<int>(group.members.size()) == now_.plan.agents &&
                       now_.plan.agents > 1;
            });
        if (!now_.plan.same_message_to_all())
            lines.emplace_back(
                "Models are not covered: noise cancels in the mean over agents, and an agent's own "
                "copy carries other noise than its messages; the guarantee is about messages, not "
                "about any agent's model, their mean, or a figure computed from them.");
        if (now_.plan.distribution() == StreamDistribution::laplace)
            lines.emplace_back(
                "Laplace noise: epsilon is pure (delta 0), for gradients clipped in L1 norm.");
        if (shared)
            lines.emplace_back(
                "All agents share one seed: any agent can compute all noise. Protected against "
                "outsiders who see every message, not against agents.");
    }
    if (!past_.empty()) {
        long repeated = now_.use.steps.first_round;
        for (const PrivacyPhase& phase : past_) repeated -= phase.rounds;
        lines.push_back(fmt::format(
            "The run was taken up again: {} phases with noise of their own, whose losses add up{}.",
            past_.size() + 1,
            repeated == 0
                ? ""
                : fmt::format("; {} round{} whose messages may have left before a failure "
                              "count{} beside those that repeat them",
                              -repeated,
                              repeated == -1 ? "" : "s",
                              repeated == -1 ? "s" : "")));
    }
    if (reproducible_noise_)
        lines.emplace_back(
            "INSECURE: noise derives from --noise-seed; whoever knows or guesses it can remove all "
            "noise.");
    if (authentication_ == "unauthenticated")
        lines.emplace_back(
            "Peers are unauthenticated: whoever can change messages between them can take an "
            "agent's place, and learn every seed of its groups.");
    lines.emplace_back(
        "Losses, accuracies and the optimality gap are computed from raw data for the "
        "experimenter; they are not private outputs.");
    lines.emplace_back(
        "Choosing a step size or any other option on private data is not accounted for.");
    if (adjacency_ != Adjacency::agent)
        lines.emplace_back(
            "The budget covers one record; no amplification by subsampling is claimed.");
    lines.insert(lines.end(), more_statements_.begin(), more_statements_.end());
    return lines;
}

std::string Ledger::to_json(Status status, long rounds_completed) const {
    const bool final = status == Status::completed || status == Status::interrupted;
    const long counted = final ? rounds_completed : rounds_;
    const auto per_agent = after(counted);
    long sent = rounds_here(counted);
    for (const PrivacyPhase& phase : past_) sent += phase.rounds;

    Json json;
    json["format"] = "sotto-ledger";
    json["version"] = 1;
    json["status"] = status_name(status);
    json["mechanism"] = now_.plan.mechanism;
    json["plan_hash"] = to_hex(now_.plan.hash());
    json["rounds"] = {{"planned", rounds_}, {"completed", rounds_completed}, {"accounted", sent}};
    json["adjacency"] = name_of(adjacency_);
    json["participation"] = name_of(now_.use.participation);
    json["delta"] = delta();
    json["target"] = {{"epsilon", now_.plan.noiseless() ? Json() : Json(budgets_.front().epsilon)},
                      {"calibration", name_of(budgets_.front().calibration)}};
    Json headline;
    headline["observer"] =
        now_.plan.aggregation == Aggregation::trusted_mean
            ? "whoever sees every mean the trusted aggregator returns"
        : now_.plan.coalition_size > 0
            ? fmt::format("any coalition of {} agent{}, with all messages of all rounds",
                          now_.plan.coalition_size,
                          now_.plan.coalition_size == 1 ? "" : "s")
            : "eavesdropper on all messages of all rounds";
    headline["coalition_size"] = now_.plan.coalition_size;
    headline["argument"] = "adaptive";
    put_guarantee(headline, largest(per_agent));
    json["headline"] = headline;

    json["agents"] = Json::array();
    for (std::size_t u = 0; u < per_agent.size(); ++u) {
        const int number = static_cast<int>(u);
        const PrivacyPhase* last = &now_;  // that the agent was there in
        for (std::size_t k = past_.size(); k > 0 && last->members.place(number) < 0; --k)
            last = &past_[k - 1];
        const auto place = static_cast<std::size_t>(last->members.place(number));
        Json agent;
        agent["agent"] = u;
        agent["sensitivity"] = last->sensitivity[place];
        // Of several phases with noise of their own only the sum means something.
        const long here = past_.empty() ? rounds_here(counted) : 0;
        agent["temporal_sensitivity_squared"] =
            past_.empty() ? Json(run_sensitivity_squared(
                                now_.plan, now_.use, here)(static_cast<Eigen::Index>(place)))
                          : Json();
        agent["target_epsilon"] = now_.plan.noiseless() ? Json() : Json(budgets_[u].epsilon);
        put_guarantee(agent, per_agent[u]);
        if (now_.members.place(number) < 0)
            agent["left_after"] = last->use.steps.first_round + last->rounds;
        json["agents"].push_back(std::move(agent));
    }

    json["phases"] = Json::array();
    const auto put_phase = [&](const PrivacyPhase& phase, long rounds) {
        json["phases"].push_back({{"first_round", phase.use.steps.first_round},
                                  {"rounds", rounds},
                                  {"key_epoch", phase.key_epoch},
                                  {"plan_hash", to_hex(phase.plan.hash())},
                                  {"agents_gone", phase.members.gone()}});
    };
    for (const PrivacyPhase& phase : past_) put_phase(phase, phase.rounds);
    put_phase(now_, rounds_here(counted));

    json["observers"] = Json::array();
    if (now_.plan.coalition_size > 0 && counted > 0) {
        Json entry;
        entry["observer"] = "eavesdropper on all messages of all rounds";
        put_guarantee(
            entry,
            largest(guarantees_of(losses(counted, [](const PrivacyPhase& phase, std::size_t) {
                return observed_precision(phase.plan, {});
            }))));
        json["observers"].push_back(std::move(entry));
    }
    if (!now_.plan.noiseless() && counted > 0 && now_.members.all > 1 &&
        now_.members.all <= most_agents_for_pairs) {
        std::optional<std::pair<int, int>> pair;
        Guarantee worst;
        for (int observer = 0; observer < now_.members.all && !worst.infinite(); ++observer) {
            // Where it is not there any more it sees all messages, and knows nobody's noise.
            const auto against =
                guarantees_of(losses(counted, [&](const PrivacyPhase& phase, std::size_t) {
                    return observed_precision(phase.plan, {phase.members.places({observer})});
                }));
            for (int target = 0; target < now_.members.all; ++target)
                if (target != observer &&
                    (!pair || worst < against[static_cast<std::size_t>(target)])) {
                    worst = against[static_cast<std::size_t>(target)];
                    pair = {observer, target};
                }
        }
        Json entry;
        entry["observer"] = "one curious agent (worst case)";
        entry["agent"] = pair->first;
        entry["target"] = pair->second;
        put_guarantee(entry, worst);
        json["observers"].push_back(std::move(entry));
    }
    if (!views_.empty()) {
        json["views"] = Json::array();
        for (const LedgerView& view : views_) {
            Json entry;
            entry["view"] = view.view;
            entry["argument"] = view.argument;
            entry["rounds"] = view.rounds;
            entry["observers"] = view.observers;
            entry["target"] = view.target;
            put_guarantee(entry, view.worst);
            entry["mean_epsilon"] = number_or_null(view.mean_epsilon);
            entry["statement"] = view.statement;
            json["views"].push_back(std::move(entry));
        }
    }
    json["noise"] = {{"keys", reproducible_noise_ ? "noise seed (insecure)" : "operating system"},
                     {"insecure", reproducible_noise_},
                     {"grid_step", now_.plan.grid_step()},
                     {"streams_per_agent", now_.plan.streams_per_agent()}};
    if (!authentication_.empty()) json["authentication"] = authentication_;
    json["statements"] = statements();
    return json.dump(2) + "\n";
}

}  // namespace sotto
