#include "run/run_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/json_value.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/plan/plan_json.hpp"
#include "sotto/plan/plan_size.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

// A round must fit in a nonce, with all before it; files of a start are numbered.
constexpr long most_rounds = 1L << 48;
constexpr int most_starts = 1 << 30;

Digest digest_from(const JsonValue& json) {
    Digest digest{};
    if (!from_hex(json.text(), digest)) json.fail("a digest of 64 hexadecimal digits");
    return digest;
}

}  // namespace

long next_checkpoint(long every, long round, long rounds) {
    return every > 0 && round / every < rounds / every ? (round / every + 1) * every : rounds;
}

std::string numbered_file(std::string_view stem, std::string_view ending, int number) {
    return number == 0 ? fmt::format("{}{}", stem, ending)
                       : fmt::format("{}-{}{}", stem, number, ending);
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
    json["phases"] = Json::array();
    for (std::size_t k = 0; k < history.phases.size(); ++k) {
        const PrivacyPhase& phase = history.phases[k];
        json["phases"].push_back({{"first_round", phase.use.steps.first_round},
                                  {"rounds", phase.rounds},
                                  {"key_epoch", phase.key_epoch},
                                  {"plan", numbered_file("plan", ".json", static_cast<int>(k))},
                                  {"plan_hash", to_hex(phase.plan.hash())},
                                  {"agents", phase.members.numbers},
                                  {"sensitivity", phase.sensitivity},
                                  {"sampling_probability", phase.sampling_probability}});
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
        const std::vector<JsonValue> phases = json.at("phases").items();
        if (phases.empty() || phases.size() != plans.size())
            throw DataError(fmt::format("{} plans for {} phases", plans.size(), phases.size()));
        long begun = 0;
        for (const JsonValue& entry : phases) {
            PrivacyPhase& phase = history.phases.emplace_back();
            phase.use.steps.first_round = entry.at("first_round").integer<long>(0, most_rounds);
            phase.rounds = entry.at("rounds").integer<long>(0, most_rounds);
            phase.key_epoch = entry.at("key_epoch").integer<std::uint32_t>();
            phase.members = {all, entry.at("agents").integers()};
            phase.sensitivity = entry.at("sensitivity").numbers();
            phase.sampling_probability = entry.at("sampling_probability").numbers();
            phase.plan = plan_from_json(plans[history.phases.size() - 1], source);
            if (to_hex(phase.plan.hash()) != entry.at("plan_hash").text())
                throw DataError(
                    fmt::format("{} is not the plan of its phase", entry.at("plan").text()));
            int before = -1;
            for (const int number : phase.members.numbers) {
                if (number <= before || number >= all) throw DataError("its agents are damaged");
                before = number;
            }
            const long first = phase.use.steps.first_round;
            if (phase.plan.agents != phase.members.size() ||
                phase.sensitivity.size() != phase.members.numbers.size() ||
                phase.sampling_probability.size() != phase.members.numbers.size() || first < 0 ||
                first > begun || phase.rounds < 0 || phase.rounds > history.rounds - first ||
                !std::ranges::all_of(
                    phase.sensitivity,
                    [](double value) { return value >= 0 && std::isfinite(value); }) ||
                !std::ranges::all_of(phase.sampling_probability,
                                     [](double value) { return value > 0 && value <= 1; }))
                throw DataError("its phases do not fit together");
            begun = first + phase.rounds;
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
            fmt::format("{}: there is no history.json; it holds no run that can be taken up",
                        directory.string()));
    std::vector<std::string> plans;
    for (int k = 0;; ++k) {
        const auto plan = directory / numbered_file("plan", ".json", k);
        if (!std::filesystem::exists(plan)) break;
        plans.push_back(read_file(plan, most_plan_bytes));
    }
    const std::string text = read_file(file);
    // A plan may have been written for a phase that did not come to begin.
    try {
        const std::size_t phases = JsonDocument(text).root().at("phases").items().size();
        if (plans.size() > phases) plans.resize(phases);
    } catch (const std::exception&) {
        // Named below.
    }
    return history_from_json(text, plans, file.string());
}

}  // namespace sotto
