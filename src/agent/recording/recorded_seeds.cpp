#include "sotto/agent/recording/recorded_seeds.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "core/json_value.hpp"
#include "private_file.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/trust/seed_agreement.hpp"

namespace sotto {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

void record_seeds(const fs::path& folder, const NoisePlan& plan, const KeyRing& ring) {
    Json json;
    json["format"] = "sotto-seeds";
    json["agent"] = ring.agent();
    json["plan_hash"] = to_hex(plan.hash());
    json["seeds"] = Json::array();
    for (const int group : ring.groups())
        json["seeds"].push_back({{"group", group},
                                 {"members", plan.groups[static_cast<std::size_t>(group)].members},
                                 {"seed", to_hex(ring.seed(group).bytes())}});
    const std::string text = json.dump(2) + "\n";
    PrivateFile file(private_folder(folder, ring.agent()) / "seeds.json");
    file.append(text.data(), text.size());
    file.close();
}

KeyRing read_recorded_seeds(const fs::path& file, const NoisePlan& plan) {
    const std::string text = read_file(file);
    try {
        const JsonDocument document(text);
        const JsonValue json = document.root();
        if (json.at("format").text() != "sotto-seeds") throw DataError("it has another format");
        if (json.at("plan_hash").text() != to_hex(plan.hash()))
            throw DataError("they are of another noise plan");
        const int agent = json.at("agent").integer<int>();
        if (agent < 0 || agent >= plan.agents)
            throw DataError(fmt::format("agent {} of {}", agent, plan.agents));
        const std::vector<int> groups = groups_of_agents(plan)[static_cast<std::size_t>(agent)];
        KeyRing ring(agent);
        int last = -1;
        for (const JsonValue& entry : json.at("seeds").items()) {
            const int group = entry.at("group").integer<int>();
            if (group <= last || group >= static_cast<int>(plan.groups.size()))
                throw DataError(
                    fmt::format("seed of group {} after {}: groups ascend, and the plan has {}",
                                group,
                                last,
                                plan.groups.size()));
            last = group;
            if (entry.at("members").integers() !=
                plan.groups[static_cast<std::size_t>(group)].members)
                throw DataError(
                    fmt::format("members of group {} are not those of the plan", group));
            std::array<std::uint8_t, SecretKey::size> bytes{};
            if (!from_hex(entry.at("seed").text(), bytes))
                throw DataError(fmt::format(
                    "seed of group {} is not {} hexadecimal digits", group, 2 * SecretKey::size));
            ring.add(group, SecretKey::from_bytes(bytes));
        }
        for (const int group : groups)
            if (!ring.holds(group))
                throw DataError(fmt::format(
                    "the seed of group {}, to which agent {} belongs, is missing", group, agent));
        return ring;
    } catch (const DataError& error) {
        throw DataError(
            fmt::format("{}: not usable recorded seeds ({})", file.string(), error.what()));
    }
}

}  // namespace sotto
