#include "privacy/ledger_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

constexpr int most_agents_for_pairs = 128;  // n eigendecompositions then take well under a second
constexpr std::string_view eavesdropper = "eavesdropper on all messages of all rounds";

constexpr NameTable<Ledger::Status, 4> statuses{{{{Ledger::Status::running, "running"},
                                                  {Ledger::Status::completed, "completed"},
                                                  {Ledger::Status::interrupted, "interrupted"},
                                                  {Ledger::Status::failed, "failed"}}}};

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

void put_guarantee(Json& json, const Guarantee& guarantee) {
    const std::optional<double> mu = guarantee.loss.mu();
    json["mu"] = mu ? finite(*mu) : Json();
    json["epsilon"] = finite(guarantee.epsilon);
    json["infinite"] = guarantee.infinite();
    if (!guarantee.infinite() && !guarantee.loss.parts().sampled.empty())
        json["loss"] = loss_json(guarantee.loss);
}

/// No target without noise.
Json target_epsilon(const PrivacyRecord& record, std::size_t agent) {
    return record.now().plan.noiseless() ? Json() : Json(record.budgets[agent].epsilon);
}

std::string headline_observer(const NoisePlan& plan) {
    if (plan.aggregation == Aggregation::trusted_mean)
        return "whoever sees every mean the trusted aggregator returns";
    if (plan.coalition_size == 0) return std::string(eavesdropper);
    return fmt::format("any coalition of {} agent{}, with all messages of all rounds",
                       plan.coalition_size,
                       plan.coalition_size == 1 ? "" : "s");
}

Json headline_json(const Ledger& ledger, long counted, const std::vector<Guarantee>& after) {
    const NoisePlan& plan = ledger.record().now().plan;
    Json json;
    json["observer"] = headline_observer(plan);
    json["coalition_size"] = plan.coalition_size;
    json["argument"] = "adaptive";
    const int unit_agents = ledger.record().unit_agents;
    put_guarantee(json, unit_agents > 1 ? ledger.persons_after(counted) : largest(after));
    if (unit_agents == 1) return json;
    const std::size_t now = ledger.record().phases.size() - 1;
    const WorstPerson& worst = ledger.worst_person_of(now);
    json["unit_agents"] = unit_agents;
    json["agents"] = Json::array();
    for (const int place : worst.agents)
        json["agents"].push_back(ledger.record().now().members.number(place));
    json["exhaustive"] = worst.exhaustive;
    return json;
}

/// The last phase with the agent; the first for one that still waits.
const PrivacyPhase& last_phase_of(const PrivacyRecord& record, int number) {
    std::size_t k = record.phases.size() - 1;
    while (k > 0 && record.phases[k].members.place(number) < 0) --k;
    return record.phases[k];
}

Json agents_json(const Ledger& ledger, long counted, const std::vector<Guarantee>& after) {
    const PrivacyRecord& record = ledger.record();
    const PrivacyPhase& now = record.now();
    const bool one_phase = record.past().empty();
    // With several phases only the sum is meaningful.
    Eigen::VectorXd squared;
    if (one_phase) squared = run_sensitivity_squared(now.plan, now.use, ledger.rounds_now(counted));
    const PrivacyLosses losses = ledger.losses_after(counted);
    Json json = Json::array();
    for (std::size_t u = 0; u < after.size(); ++u) {
        const int number = static_cast<int>(u);
        const PrivacyPhase& last = last_phase_of(record, number);
        const int place = last.members.place(number);
        Json agent;
        agent["agent"] = u;
        const bool waits = place < 0;
        agent["sensitivity"] = waits ? 0 : last.sensitivity[static_cast<std::size_t>(place)];
        agent["temporal_sensitivity_squared"] = one_phase && !waits ? Json(squared(place)) : Json();
        agent["target_epsilon"] = target_epsilon(record, u);
        put_guarantee(agent, after[u]);
        // The loss to which other runs' losses are added.
        if (agent.contains("loss")) agent["loss"] = loss_json(losses.bound_of(number));
        if (waits)
            agent["waits"] = true;
        else if (now.members.place(number) < 0)
            agent["left_after"] = last.use.steps.first_round + last.rounds;
        json.push_back(std::move(agent));
    }
    return json;
}

/// Loss of each present agent in the phase. Phases shared by several continuations of a run count
/// once.
Json losses_of_phase(const Ledger& ledger, std::size_t phase, long counted) {
    const PrivacyLosses losses = ledger.losses_in(phase, counted);
    Json json = Json::array();
    for (const int number : ledger.record().phases[phase].members.numbers) {
        const PrivacyLoss loss = losses.bound_of(number);
        json.push_back({{"agent", number}, {"loss", loss.infinite() ? Json() : loss_json(loss)}});
    }
    return json;
}

Json phases_json(const Ledger& ledger, long counted) {
    const PrivacyRecord& record = ledger.record();
    Json json = Json::array();
    for (std::size_t k = 0; k < record.phases.size(); ++k) {
        const PrivacyPhase& phase = record.phases[k];
        std::vector<std::string> sessions;
        for (const Digest& session : phase.sessions) sessions.push_back(to_hex(session));
        json.push_back(
            {{"first_round", phase.use.steps.first_round},
             {"rounds", &phase == &record.now() ? ledger.rounds_now(counted) : phase.rounds},
             {"key_epoch", phase.key_epoch},
             {"plan_hash", to_hex(phase.plan.hash())},
             {"agents_gone", phase.members.gone()},
             {"sessions", sessions},
             {"losses", losses_of_phase(ledger, k, counted)}});
        if (phase.survey != nullptr) json.back()["survey"] = phase.survey->name;
    }
    return json;
}

/// Observers other than the headline's.
Json observers_json(const Ledger& ledger, long counted) {
    const NoisePlan& plan = ledger.record().now().plan;
    const int agents = ledger.record().agents();
    Json json = Json::array();
    if (counted == 0) return json;
    if (plan.coalition_size > 0) {
        Json entry;
        entry["observer"] = eavesdropper;
        put_guarantee(entry, ledger.against_eavesdropper(counted));
        json.push_back(std::move(entry));
    }
    if (!plan.noiseless() && agents > 1 && agents <= most_agents_for_pairs) {
        const auto worst = ledger.worst_curious_agent(counted);
        Json entry;
        entry["observer"] = "one curious agent (worst case)";
        entry["agent"] = worst->observer;
        entry["target"] = worst->target;
        put_guarantee(entry, worst->guarantee);
        json.push_back(std::move(entry));
    }
    return json;
}

Json views_json(const std::vector<LedgerView>& views) {
    Json json = Json::array();
    for (const LedgerView& view : views) {
        Json entry;
        entry["view"] = view.view;
        entry["argument"] = view.argument;
        entry["rounds"] = view.rounds;
        entry["observers"] = view.observers;
        entry["target"] = view.target;
        put_guarantee(entry, view.worst);
        entry["mean_epsilon"] = finite(view.mean_epsilon);
        entry["statement"] = view.statement;
        json.push_back(std::move(entry));
    }
    return json;
}

Json tails_json(const Tails& tails) {
    return {{"values", tails.values}, {"delta", tails.delta}, {"most", tails.most}};
}

Json noise_json(const PrivacyRecord& record) {
    const NoisePlan& plan = record.now().plan;
    return {{"keys", record.reproducible_noise ? "noise seed (insecure)" : "operating system"},
            {"insecure", record.reproducible_noise},
            {"grid_step", plan.grid_step()},
            {"streams_per_agent", plan.streams_per_agent()}};
}

}  // namespace

std::string to_json(const Ledger& ledger, Ledger::Status status, long rounds_completed) {
    const PrivacyRecord& record = ledger.record();
    const NoisePlan& plan = record.now().plan;
    const bool final = status == Ledger::Status::completed || status == Ledger::Status::interrupted;
    const long counted = final ? rounds_completed : record.rounds;
    const std::vector<Guarantee> after = ledger.after(counted);

    Json json;
    json["format"] = "sotto-ledger";
    json["version"] = 2;
    json["status"] = statuses.name_of(status);
    json["mechanism"] = plan.mechanism;
    json["plan_hash"] = to_hex(plan.hash());
    json["rounds"] = {{"planned", record.rounds},
                      {"completed", rounds_completed},
                      {"accounted", ledger.rounds_accounted(counted)}};
    json["adjacency"] = name_of(record.adjacency);
    if (!record.unit_column.empty()) json["unit_column"] = record.unit_column;
    if (record.unit_agents > 1) json["unit_agents"] = record.unit_agents;
    json["participation"] = name_of(record.now().use.participation);
    json["delta"] = ledger.delta();
    if (record.dimension > 0) json["tails"] = tails_json(ledger.tails(counted));
    json["target"] = {{"epsilon", target_epsilon(record, 0)},
                      {"calibration", name_of(record.budgets.front().calibration)}};
    json["headline"] = headline_json(ledger, counted, after);
    json["agents"] = agents_json(ledger, counted, after);
    json["phases"] = phases_json(ledger, counted);
    json["observers"] = observers_json(ledger, counted);
    if (!ledger.views().empty()) json["views"] = views_json(ledger.views());
    json["noise"] = noise_json(record);
    if (record.secure_sums) json["secure_sums"] = json_of(*record.secure_sums);
    if (record.convex) json["convex"] = json_of(*record.convex);
    if (!record.authentication.empty()) json["authentication"] = record.authentication;
    json["statements"] = statements_of(record);
    return to_text(json);
}

namespace {

using LossJson = nlohmann::ordered_json;

double finite_number(const JsonValue& json) {
    if (!(json.number() >= 0)) json.fail("0 or more");
    return json.number();
}

std::vector<SampledRounds> rounds_from(const JsonValue& json) {
    const auto groups = json.items();
    if (groups.empty() || groups.size() > most_groups_read)
        json.fail(fmt::format("from 1 to {} groups of rounds", most_groups_read));
    std::vector<SampledRounds> rounds;
    for (const JsonValue& one : groups) {
        const auto epoch = one.find("rounds_an_epoch");
        if (one.members().size() != (epoch ? 4 : 3))
            one.fail(
                "noise_multiplier, sampling_probability, count, and of random allocation "
                "rounds_an_epoch");
        rounds.push_back({finite_number(one.at("noise_multiplier")),
                          finite_number(one.at("sampling_probability")),
                          one.at("count").integer<long>(),
                          epoch ? epoch->integer<long>(2, most_rounds_an_epoch) : 1});
    }
    return rounds;
}

}  // namespace

LossJson rounds_json(const SampledRounds& rounds) {
    LossJson json{{"noise_multiplier", rounds.noise_multiplier},
                  {"sampling_probability", rounds.sampling_probability},
                  {"count", rounds.count}};
    if (rounds.is_allocated()) json["rounds_an_epoch"] = rounds.rounds_an_epoch;
    return json;
}

LossJson loss_json(const PrivacyLoss& loss) {
    const PrivacyLoss::Parts parts = loss.parts();
    LossJson json = LossJson::object();
    const bool other = parts.pure || !parts.sampled.empty();
    if (!other || parts.mu_squared > 0) json["mu^2"] = parts.mu_squared;
    if (parts.pure) json["epsilon"] = *parts.pure;
    for (const SampledRounds& one : parts.sampled)
        json["sampled_rounds"].push_back(rounds_json(one));
    return json;
}

PrivacyLoss loss_from_json(const JsonValue& json) {
    constexpr std::string_view kinds = "an object of mu^2, epsilon, sampled_rounds";
    const auto members = json.members();
    if (members.empty()) json.fail(kinds);
    PrivacyLoss::Parts parts;
    for (const auto& [key, value] : members) {
        if (key == "mu^2")
            parts.mu_squared = finite_number(value);
        else if (key == "epsilon")
            parts.pure = finite_number(value);
        else if (key == "sampled_rounds")
            parts.sampled = rounds_from(value);
        else
            json.fail(kinds);
    }
    try {
        return PrivacyLoss::of(parts);
    } catch (const PrivacyError& error) {
        throw DataError(error.what());
    }
}

namespace {

using SumJson = nlohmann::ordered_json;

SumJson json_of(const std::optional<SumExample>& example) {
    if (!example) return {};
    return {{"colluders", example->colluders},
            {"exposed", example->exposed},
            {"round", example->round}};
}

SumJson json_of(const SumsAgainst& against, long rounds) {
    SumJson json{{"colluders", against.colluders}, {"computed", against.computed}};
    if (!against.computed) return json;
    json["exposed"] = against.exposed_in(1);
    json["exposed_in_every_round"] = against.exposed_in(rounds);
    json["rounds_exposed"] = against.rounds_exposed;
    json["least_hidden"] = against.least_hidden;
    json["smallest_sum"] = against.smallest_sum ? SumJson(*against.smallest_sum) : SumJson();
    json["worst"] = json_of(against.worst);
    return json;
}

}  // namespace

nlohmann::ordered_json json_of(const ConvexLosses& convex) {
    return {{"feature_norm", convex.feature_norm},
            {"smoothness", convex.smoothness},
            {"l2", convex.l2},
            {"largest_step", convex.largest_step},
            {"most_step", convex.most_step()}};
}

std::optional<ConvexLosses> convex_from_json(const JsonValue& ledger) {
    const std::optional<JsonValue> json = ledger.find("convex");
    if (!json) return std::nullopt;
    const ConvexLosses convex{finite_number(json->at("feature_norm")),
                              finite_number(json->at("smoothness")),
                              finite_number(json->at("l2")),
                              finite_number(json->at("largest_step"))};
    if (!(convex.feature_norm > 1)) json->at("feature_norm").fail("above 1");
    if (!(convex.smoothness > 0)) json->at("smoothness").fail("above 0");
    if (!(convex.largest_step > 0 &&
          convex.largest_step * (convex.smoothness + 2 * convex.l2) <= 2))
        json->at("largest_step").fail(fmt::format("above 0, up to {:g}", convex.most_step()));
    return convex;
}

nlohmann::ordered_json json_of(const SumHiding& hiding) {
    SumJson against = SumJson::array();
    for (const SumsAgainst& one : hiding.against) against.push_back(json_of(one, hiding.rounds));
    return {{"withstand", hiding.asked},
            {"rounds", hiding.rounds},
            {"gossip_steps", hiding.gossip_steps},
            {"mask_partners", hiding.mask_partners},
            {"against", std::move(against)},
            {"known", json_of(hiding.known)}};
}

}  // namespace sotto
