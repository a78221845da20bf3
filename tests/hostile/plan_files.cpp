// Noise plans: what rank 0 sends, and what --plan names.

#include <nlohmann/json.hpp>

#include "core/files.hpp"
#include "hostile/hostile_input.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto::test {

namespace {

using OrderedJson = nlohmann::ordered_json;

/// Independent noise of two agents.
OrderedJson plan() {
    return OrderedJson::parse(R"({"format":"sotto-plan","version":1,"mechanism":"ldp","agents":2,
        "scale":1.0,"coalition_size":0,"grid_step_log2":-20,
        "temporal":{"kind":"identity","lower":[]},"entry":"gradient","aggregation":"gossip",
        "seed_groups":[[0],[1]],
        "streams":[{"group":0,"index":0,"distribution":"gaussian"},
                   {"group":1,"index":0,"distribution":"gaussian"}],
        "rows":[{"sender":0,"receiver":-1,"streams":[0],"coefficients":[1.0]},
                {"sender":1,"receiver":-1,"streams":[1],"coefficients":[1.0]}]})");
}

/// With one value replaced.
MakeFile with(const std::string& pointer, OrderedJson value) {
    OrderedJson changed = plan();
    changed[OrderedJson::json_pointer(pointer)] = std::move(value);
    return text(changed.dump());
}

MakeFile without(const std::string& key) {
    OrderedJson changed = plan();
    changed.erase(key);
    return text(changed.dump());
}

std::string many_groups() {
    std::string groups = R"({"format":"sotto-plan","version":1,"seed_groups":[)";
    for (int i = 0; i < 100000; ++i) groups += "[0,1],";
    return groups + "[0,1]]}";
}

std::vector<HostileFile> files() {
    constexpr ExitCode refused = ExitCode::privacy;
    return {
        {"empty", text(""), {"empty"}},
        {"no JSON", text("plan"), {"byte 1"}},
        {"cut", text(plan().dump().substr(0, 100)), {"no JSON from byte"}},
        {"an array", text("[]"), {"an array of 0", "format"}},
        {"null", text("null"), {"null"}},
        {"arrays a million deep", text(std::string(1000000, '[')), {"nested more than 32"}},
        {"bytes that are no UTF-8", text("{\"format\":\"\xff\"}"), {"no JSON"}},
        {"a number that overflows", text("{\"format\":1e999}"), {"too large"}},
        {"another format", with("/format", "other"), {"format is \"other\""}},
        {"another version", with("/version", 2), {"version is 2"}},
        {"no streams", without("streams"), {"streams is missing"}},
        {"agents as a text", with("/agents", "2"), {"agents is \"2\"", "whole number"}},
        {"2^32 agents", with("/agents", 4294967298), {"agents is 4294967298"}},
        {"half an agent", with("/agents", 2.5), {"agents is 2.5"}},
        {"-1 agents", with("/agents", -1), {"agents is -1"}, refused, ""},
        {"an object for the scale", with("/scale", OrderedJson::object()), {"scale is an object"}},
        {"scale 0", with("/scale", 0), {"scale is 0"}, refused, ""},
        {"a negative scale", with("/scale", -1), {"scale is -1"}, refused, ""},
        {"a group that is no array", with("/seed_groups/1", 1), {"seed_groups[1] is 1"}},
        {"a member as a text", with("/seed_groups/1/0", "1"), {"seed_groups[1][0] is \"1\""}},
        {"a member who is not there", with("/seed_groups/1/0", 2), {"agent 2"}, refused, ""},
        {"a group of nobody",
         with("/seed_groups/1", OrderedJson::array()),
         {"no members"},
         refused,
         ""},
        {"a stream of another group", with("/streams/1/group", 5), {"group 5"}, refused, ""},
        {"a stream of group -1", with("/streams/1/group", -1), {"group -1"}, refused, ""},
        {"a stream without group",
         with("/streams/1", OrderedJson::object()),
         {"streams[1].group is missing"}},
        {"another distribution", with("/streams/1/distribution", "cauchy"), {"cauchy", "laplace"}},
        {"two distributions", with("/streams/1/distribution", "laplace"), {"Laplace"}, refused, ""},
        {"coefficients as texts", with("/rows/0/coefficients/0", "1"), {"rows[0].coefficients[0]"}},
        {"a coefficient too many",
         with("/rows/0/coefficients", {1.0, 2.0}),
         {"2 coeff"},
         refused,
         ""},
        {"a stream it cannot know", with("/rows/0/streams/0", 1), {"does not hold"}, refused, ""},
        {"rows of nobody", with("/rows/0/sender", 9), {"sender 9"}, refused, ""},
        {"another entry", with("/entry", "nowhere"), {"nowhere"}},
        {"a factor of rows of two lengths",
         with("/temporal/lower", OrderedJson::parse("[[1,0],[1]]")),
         {"differ in length"}},
        {"a factor of texts",
         with("/temporal/lower", OrderedJson::parse("[[\"1\"]]")),
         {"lower[0][0]"}},
        {"a grid of 1e9", with("/grid_step_log2", 1000000000), {"grid_step_log2"}, refused, ""},
        {"100 000 groups and nothing else", text(many_groups()), {"mechanism is missing"}},
        {"100 000 groups of two agents",
         [](const std::string& path) {
             OrderedJson changed = plan();
             for (int i = 0; i < 100000; ++i) changed["seed_groups"].push_back({0, 1});
             text(changed.dump())(path);
         },
         {"200002 members", "4112"},
         refused,
         ""},
    };
}

}  // namespace

HostileInputs hostile_plan_files() {
    const auto read = [](const std::string& path) {
        (void)plan_from_json(read_file(path, most_plan_bytes), path);
    };
    HostileInputs all = files_of("plan", read, no_files());
    for (HostileFile file : files()) {
        const bool named = !file.file.empty();
        file.file = "input";
        HostileInput input = files_of("plan", read, {file}).front();
        if (!named) input.words.pop_back();  // refusals of what a plan says name the plan
        all.push_back(std::move(input));
    }
    return all;
}

}  // namespace sotto::test
