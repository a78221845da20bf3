#include "sotto/privacy/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/privacy/gdp.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

constexpr int most_agents_for_pairs = 128;  // n eigendecompositions stay well under a second

void put_guarantee(Json& json, const Guarantee& guarantee) {
    const bool infinite = guarantee.infinite();
    json["mu"] = std::isfinite(guarantee.mu) ? Json(guarantee.mu) : Json();
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
    : plan_(std::move(plan)),
      exposures_(std::move(exposures)),
      budgets_(std::move(budgets)),
      adjacency_(adjacency),
      use_(std::move(use)),
      rounds_(rounds),
      reproducible_noise_(reproducible_noise),
      authentication_(std::move(authentication)),
      precision_(coalition_precision(plan_, plan_.coalition_size)) {}

std::vector<Exposure> Ledger::exposures_after(long rounds) const {
    std::vector<Exposure> exposures = exposures_;
    const Eigen::VectorXd squared = run_sensitivity_squared(plan_, use_, rounds);
    for (std::size_t u = 0; u < exposures.size(); ++u)
        exposures[u].temporal_sensitivity = squared(static_cast<Eigen::Index>(u));
    return exposures;
}

std::vector<Guarantee> Ledger::after(long rounds) const {
    const auto exposures = exposures_after(rounds);
    std::vector<Guarantee> result(exposures.size());
    for (std::size_t u = 0; u < result.size(); ++u) {
        const double sens2 = exposures[u].temporal_sensitivity;
        const double precision = precision_(static_cast<Eigen::Index>(u));
        result[u] =
            guarantee_of(plan_,
                         sens2 == 0 ? 0 : exposures[u].sensitivity * std::sqrt(sens2 * precision),
                         delta());
    }
    return result;
}

double Ledger::mu_after(long rounds) const { return largest(after(rounds)).mu; }

double Ledger::epsilon_after(long rounds) const { return largest(after(rounds)).epsilon; }

std::vector<std::string> Ledger::statements() const {
    std::vector<std::string> lines;
    if (plan_.noiseless()) {
        lines.emplace_back(
            "No noise is added: every message reveals a clipped gradient. Epsilon is infinite.");
    } else if (plan_.aggregation == Aggregation::trusted_mean) {
        lines.emplace_back(
            "Trusted aggregator: agent 0 sees every message and adds the noise; only the mean it "
            "returns is protected.");
    } else {
        const bool shared =
            std::any_of(plan_.groups.begin(), plan_.groups.end(), [&](const SeedGroup& group) {
                return static_cast<int>(group.members.size()) == plan_.agents && plan_.agents > 1;
            });
        if (!plan_.same_message_to_all())
            lines.emplace_back(
                "Models are not covered: noise cancels in the mean over agents, and an agent's own "
                "copy carries other noise than its messages; the guarantee is about messages, not "
                "about any agent's model, their mean, or a figure computed from them.");
        if (plan_.distribution() == StreamDistribution::laplace)
            lines.emplace_back(
                "Laplace noise: epsilon is pure (delta 0), for gradients clipped in L1 norm.");
        if (shared)
            lines.emplace_back(
                "All agents share one seed: any agent can compute all noise. Protected against "
                "outsiders who see every message, not against agents.");
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
    const auto exposures = exposures_after(counted);

    Json json;
    json["format"] = "sotto-ledger";
    json["version"] = 1;
    json["status"] = status_name(status);
    json["mechanism"] = plan_.mechanism;
    json["plan_hash"] = to_hex(plan_.hash());
    json["rounds"] = {
        {"planned", rounds_}, {"completed", rounds_completed}, {"accounted", counted}};
    json["adjacency"] = name_of(adjacency_);
    json["participation"] = name_of(use_.participation);
    json["delta"] = delta();
    json["target"] = {{"epsilon", plan_.noiseless() ? Json() : Json(budgets_.front().epsilon)},
                      {"calibration", name_of(budgets_.front().calibration)}};
    Json headline;
    headline["observer"] =
        plan_.aggregation == Aggregation::trusted_mean
            ? "whoever sees every mean the trusted aggregator returns"
        : plan_.coalition_size > 0
            ? fmt::format("any coalition of {} agent{}, with all messages of all rounds",
                          plan_.coalition_size,
                          plan_.coalition_size == 1 ? "" : "s")
            : "eavesdropper on all messages of all rounds";
    headline["coalition_size"] = plan_.coalition_size;
    headline["argument"] = "adaptive";
    put_guarantee(headline, largest(per_agent));
    json["headline"] = headline;

    json["agents"] = Json::array();
    for (std::size_t u = 0; u < per_agent.size(); ++u) {
        Json agent;
        agent["agent"] = u;
        agent["sensitivity"] = exposures[u].sensitivity;
        agent["temporal_sensitivity_squared"] = exposures[u].temporal_sensitivity;
        agent["target_epsilon"] = plan_.noiseless() ? Json() : Json(budgets_[u].epsilon);
        put_guarantee(agent, per_agent[u]);
        json["agents"].push_back(std::move(agent));
    }

    json["observers"] = Json::array();
    if (plan_.coalition_size > 0 && counted > 0) {
        Json entry;
        entry["observer"] = "eavesdropper on all messages of all rounds";
        put_guarantee(entry, largest(guarantees(plan_, {}, exposures, delta())));
        json["observers"].push_back(std::move(entry));
    }
    if (!plan_.noiseless() && counted > 0 && plan_.agents <= most_agents_for_pairs) {
        if (const auto worst = worst_curious_agent(plan_, exposures, delta())) {
            Json entry;
            entry["observer"] = "one curious agent (worst case)";
            entry["agent"] = worst->observer;
            entry["target"] = worst->target;
            put_guarantee(entry, worst->guarantee);
            json["observers"].push_back(std::move(entry));
        }
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
            entry["mean_epsilon"] =
                std::isfinite(view.mean_epsilon) ? Json(view.mean_epsilon) : Json();
            entry["statement"] = view.statement;
            json["views"].push_back(std::move(entry));
        }
    }
    json["noise"] = {{"keys", reproducible_noise_ ? "noise seed (insecure)" : "operating system"},
                     {"insecure", reproducible_noise_},
                     {"grid_step", plan_.grid_step()},
                     {"streams_per_agent", plan_.streams_per_agent()}};
    if (!authentication_.empty()) json["authentication"] = authentication_;
    json["statements"] = statements();
    return json.dump(2) + "\n";
}

}  // namespace sotto
