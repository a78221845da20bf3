#include "store/run_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "core/files.hpp"
#include "core/json.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "tasks/predictions.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

// A nonce must hold all rounds; a start's number is in file names.
constexpr long most_rounds = 1L << 48;
constexpr int most_starts = 1 << 30;

Digest digest_from(const JsonValue& json) {
    Digest digest{};
    if (!from_hex(json.text(), digest)) json.fail("a digest of 64 hexadecimal digits");
    return digest;
}

PlanUse use_from(const JsonValue& phase) {
    PlanUse use;
    use.participation = parse_participation("participation", phase.at("participation").text());
    const double step_size = phase.at("step_size").number();
    if (!(step_size > 0 && std::isfinite(step_size)))
        phase.at("step_size").fail("a finite number above 0");
    use.steps = parse_step_schedule("step_schedule", phase.at("step_schedule").text(), step_size);
    use.steps.first_round = phase.at("first_round").integer<long>(0, most_rounds);
    const std::vector<double> weights = phase.at("own_weights").numbers();
    if (!std::ranges::all_of(weights, [](double value) { return std::isfinite(value); }))
        phase.at("own_weights").fail("finite numbers");
    use.own_weights = Eigen::Map<const Eigen::VectorXd>(weights.data(), std::ssize(weights));
    use.gossip_steps = phase.at("gossip_steps").integer<int>(1);
    return use;
}

/// Whether a start of the last phase occurred before.
bool repeats_session(const RunHistory& history) {
    std::set<Digest> known;
    for (const PrivacyPhase& phase : history.phases)
        for (const Digest& session : phase.sessions)
            if (!known.insert(session).second) return true;
    return false;
}

/// @throws DataError naming the field unless the last phase of `history` follows those before it,
/// which end after `begun` rounds.
void require_fitting_phase(const RunHistory& history, long begun) {
    const PrivacyPhase& phase = history.phases.back();
    const auto k = history.phases.size() - 1;
    const auto require = [k](bool fits, std::string_view what) {
        if (!fits)
            throw DataError(fmt::format("its phases do not fit together: phases[{}].{}", k, what));
    };
    int before = -1;
    for (const int number : phase.members.numbers) {
        require(number > before && number < phase.members.all, "agents");
        before = number;
    }
    const long first = phase.use.steps.first_round;
    const auto places = phase.members.numbers.size();
    require(phase.plan.agents == phase.members.size(), "agents");
    require(phase.use.own_weights.size() == phase.members.size(), "own_weights");
    require(!phase.sessions.empty() && !repeats_session(history), "sessions");
    require(
        phase.sensitivity.size() == places &&
            std::ranges::all_of(phase.sensitivity,
                                [](double value) { return value >= 0 && std::isfinite(value); }),
        "sensitivity");
    require(phase.sampling_probability.size() == places &&
                std::ranges::all_of(phase.sampling_probability,
                                    [](double value) { return value > 0 && value <= 1; }),
            "sampling_probability");
    require(first <= begun, "first_round is beyond what rounds of the phase before come to");
    require(phase.rounds <= history.rounds - first,
            "rounds and first_round are beyond the rounds of the run");
    require(k == 0 || phase.key_epoch > history.phases[k - 1].key_epoch, "key_epoch");
}

}  // namespace

long next_checkpoint(long every, long round, long rounds) {
    return every > 0 && round / every < rounds / every ? (round / every + 1) * every : rounds;
}

std::string numbered_file(std::string_view stem, std::string_view ending, int number) {
    return number == 0 ? fmt::format("{}{}", stem, ending)
                       : fmt::format("{}-{}{}", stem, number, ending);
}

namespace {

const SurveyKind* survey_of(const JsonValue& phase) {
    const auto survey = phase.find("survey");
    if (!survey) return nullptr;
    const auto* const kind =
        std::ranges::find(survey_kinds, std::string_view(survey->text()), &SurveyKind::name);
    if (kind == survey_kinds.end()) survey->fail("moments or norms");
    return *kind;
}

}  // namespace

std::string recordings_of(const SurveyKind& survey, int earlier_starts) {
    return numbered_file(fmt::format("views-{}", survey.name), "", earlier_starts);
}

std::string plan_file_of(std::span<const PrivacyPhase> phases, std::size_t k) {
    const SurveyKind* const survey = phases[k].survey;
    return numbered_file(
        survey == nullptr ? "plan" : survey->name,
        ".json",
        static_cast<int>(std::ranges::count(phases.first(k), survey, &PrivacyPhase::survey)));
}

std::string to_json(const RunHistory& history) {
    Json json;
    json["format"] = "sotto-history";
    json["version"] = 2;
    json["run"] = to_hex(history.run);
    json["rounds"] = history.rounds;
    json["starts"] = history.starts;
    json["completed"] = history.completed;
    json["checkpoint_every"] = history.checkpoint_every;
    json["agents"] = history.phases.front().members.all;
    json["features"] = history.features;
    json["labels"] = history.labels;
    if (history.table) json["table"] = json_of(*history.table);
    if (history.scaling) json["scaling"] = json_of(*history.scaling);
    json["phases"] = Json::array();
    for (std::size_t k = 0; k < history.phases.size(); ++k) {
        const PrivacyPhase& phase = history.phases[k];
        const PlanUse& use = phase.use;
        const std::vector<double> own_weights(use.own_weights.begin(), use.own_weights.end());
        std::vector<std::string> sessions;
        for (const Digest& session : phase.sessions) sessions.push_back(to_hex(session));
        json["phases"].push_back({{"first_round", use.steps.first_round},
                                  {"rounds", phase.rounds},
                                  {"key_epoch", phase.key_epoch},
                                  {"plan", plan_file_of(history.phases, k)},
                                  {"plan_hash", to_hex(phase.plan.hash())},
                                  {"agents", phase.members.numbers},
                                  {"sensitivity", phase.sensitivity},
                                  {"sampling_probability", phase.sampling_probability},
                                  {"participation", name_of(use.participation)},
                                  {"step_size", use.steps.step_size},
                                  {"step_schedule", name_of(use.steps)},
                                  {"own_weights", own_weights},
                                  {"gossip_steps", use.gossip_steps},
                                  {"sessions", sessions}});
        if (phase.survey != nullptr) json["phases"].back()["survey"] = phase.survey->name;
    }
    return json.dump(2) + "\n";
}

RunHistory history_from_json(std::string_view text,
                             const std::vector<std::string>& plans,
                             const std::string& source) {
    try {
        const JsonDocument document(text);
        document.require_format("sotto-history", 2);
        const JsonValue json = document.root();
        RunHistory history;
        history.run = digest_from(json.at("run"));
        history.rounds = json.at("rounds").integer<long>(1);
        history.starts = json.at("starts").integer<int>(0, most_starts);
        history.completed = json.at("completed").boolean();
        if (const auto every = json.find("checkpoint_every"))
            history.checkpoint_every = every->integer<long>(0, most_rounds);
        const int all = json.at("agents").integer<int>(1);
        history.features = json.at("features").integer<long>(0);
        history.labels = json.at("labels").numbers();
        if (std::ranges::adjacent_find(history.labels, std::greater_equal()) !=
            history.labels.end())
            json.at("labels").fail("labels, ascending, each once");
        if (const auto table = json.find("table")) history.table = table_shape_from(*table);
        if (const auto scaling = json.find("scaling")) history.scaling = scaling_from(*scaling);
        const std::vector<JsonValue> phases = json.at("phases").items();
        if (phases.empty() || phases.size() != plans.size())
            throw DataError(fmt::format("{} plans for {} phases", plans.size(), phases.size()));
        long begun = 0;
        for (const JsonValue& entry : phases) {
            PrivacyPhase& phase = history.phases.emplace_back();
            phase.use = use_from(entry);
            for (const JsonValue& session : entry.at("sessions").items())
                phase.sessions.push_back(digest_from(session));
            phase.survey = survey_of(entry);
            phase.rounds = entry.at("rounds").integer<long>(0, most_rounds);
            phase.key_epoch = entry.at("key_epoch").integer<std::uint32_t>();
            phase.members = {all, entry.at("agents").integers()};
            phase.sensitivity = entry.at("sensitivity").numbers();
            phase.sampling_probability = entry.at("sampling_probability").numbers();
            phase.plan = plan_from_json(plans[history.phases.size() - 1], source);
            if (to_hex(phase.plan.hash()) != entry.at("plan_hash").text())
                throw DataError(
                    fmt::format("{} is not the plan of its phase, by phases[{}].plan_hash",
                                entry.at("plan").text(),
                                history.phases.size() - 1));
            require_fitting_phase(history, begun);
            begun = phase.use.steps.first_round + phase.rounds;
        }
        return history;
    } catch (const Error& error) {
        throw DataError(fmt::format("{}: it is damaged ({})", source, error.what()));
    }
}

RunHistory read_history(const std::filesystem::path& directory) {
    const std::filesystem::path file = directory / "history.json";
    if (!std::filesystem::exists(file))
        throw DataError(
            fmt::format("{}: there is no history.json; it holds no run that can be resumed",
                        directory.string()));
    const std::string text = read_file(file);
    std::vector<std::string> plans;
    try {
        const JsonDocument document(text);
        std::vector<PrivacyPhase> phases;
        for (const JsonValue& entry : document.root().at("phases").items()) {
            phases.emplace_back().survey = survey_of(entry);
            const auto plan = directory / plan_file_of(phases, phases.size() - 1);
            if (std::filesystem::exists(plan)) plans.push_back(read_file(plan, most_plan_bytes));
        }
    } catch (const std::exception&) {
        // Reported below.
    }
    return history_from_json(text, plans, file.string());
}

}  // namespace sotto
