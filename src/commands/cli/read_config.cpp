#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "commands/cli/options.hpp"
#include "run/task.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/noise/mechanism.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto::cli {

GraphConfig read_graph_config(const ParsedOptions& options) {
    GraphConfig config;
    if (options.has("graph")) config.file = options.text("graph");
    config.topology.topology = parse_topology("--topology", options.text("topology"));
    const long agents = options.integer("agents", 1);
    require_in_range("--agents", static_cast<double>(agents), 1, 100000);
    config.topology.agents = static_cast<int>(agents);
    config.topology.edge_probability = options.real("edge-probability");
    if (options.has("radius")) config.topology.radius = options.real("radius");
    config.topology.graph_seed = static_cast<std::uint64_t>(options.integer("graph-seed", 0));
    config.mixing = options.text("mixing");
    config.mixing_schedule = options.text("mixing-schedule");
    return config;
}

namespace {

/// A number of records; nothing for all.
std::optional<long> parse_batch_size(const ParsedOptions& options) {
    const std::string& text = options.text("batch-size");
    if (text == "all") return std::nullopt;
    if (text.find_first_not_of("+-0123456789") != std::string::npos) {
        const std::vector<std::string> allowed{"all", "a whole number"};
        throw unknown_name_error("--batch-size", text, allowed);
    }
    return options.integer("batch-size", 1);
}

}  // namespace

PlanConfig read_plan_config(const ParsedOptions& options) {
    PlanConfig config;
    config.mechanism = find_mechanism("--mechanism", options.text("mechanism")).name;
    config.utility = parse_utility("--utility", options.text("utility"));
    config.epsilon = options.real("epsilon");
    config.delta = options.real("delta");
    config.calibration = parse_calibration("--calibration", options.text("calibration"));
    config.adjacency = parse_adjacency("--adjacency", options.text("adjacency"));
    config.clip_norm = options.real("clip-norm");
    config.rounds = options.integer("rounds", 1);
    config.batch_size = parse_batch_size(options);
    const long gossip_steps = options.integer("gossip-steps", 1);
    require_in_range("--gossip-steps", static_cast<double>(gossip_steps), 1, 1000);
    config.gossip_steps = static_cast<int>(gossip_steps);
    config.spatial_mechanism =
        find_mechanism("--spatial-mechanism", options.text("spatial-mechanism")).name;
    config.steps = parse_step_schedule(
        "--step-schedule", options.text("step-schedule"), options.real("step-size"));
    require_positive("--step-size", config.steps.step_size);
    config.temporal = parse_temporal("--temporal", options.text("temporal"));
    if (options.has("temporal-restart"))
        config.temporal.restart = options.integer("temporal-restart", 1);
    config.participation = parse_participation("--participation", options.text("participation"));
    config.variance_cap = options.real("variance-cap");
    if (options.has("coalition-size")) {
        const long size = options.integer("coalition-size", 0);
        require_in_range("--coalition-size", static_cast<double>(size), 0, 1e6);
        config.coalition_size = static_cast<int>(size);
    }
    if (options.has("seed-groups")) config.seed_groups = options.text("seed-groups");
    config.common_variance = options.flag("common-variance");
    if (options.has("budgets")) config.budgets_file = options.text("budgets");
    if (options.has("plan")) config.plan_file = options.text("plan");
    require_positive("--epsilon", config.epsilon);
    if (options.has("noise-std")) {
        config.noise_std = options.real("noise-std");
        require_positive("--noise-std", *config.noise_std);
        for (const char* option : {"epsilon", "budgets"})
            if (options.given(option))
                throw ConfigError(fmt::format(
                    "--noise-std: --{} is given too; the noise follows from one of them", option));
    }
    require_delta("--delta", config.delta);
    require_positive("--clip-norm", config.clip_norm);
    return config;
}

namespace {

bool parse_switch(const ParsedOptions& options, const std::string& name) {
    const std::string& text = options.text(name);
    if (text == "on" || text == "off") return text == "on";
    const std::vector<std::string> allowed{"on", "off"};
    throw unknown_name_error("--" + name, text, allowed);
}

/// What a task asks for where the user does not: averaging makes running averages of all of an
/// agent's values.
struct TaskDefault {
    const char *task, *option, *text;
};
constexpr std::array<TaskDefault, 6> task_defaults{{{"averaging", "step-size", "1"},
                                                    {"averaging", "step-schedule", "inverse"},
                                                    {"averaging", "l2", "1"},
                                                    {"averaging", "clip-norm", "1"},
                                                    {"averaging", "batch-size", "all"},
                                                    {"averaging", "partition", "iid"}}};

void resolve_task_defaults(ParsedOptions& options) {
    for (const auto& [task, option, text] : task_defaults)
        if (options.text("task") == task && !options.given(option)) options.resolve(option, text);
}

int parse_agent(const std::string& option, const std::string& word) {
    const long long agent = parse_integer(option, word);
    require_in_range(option, static_cast<double>(agent), 0, 1e6);
    return static_cast<int>(agent);
}

void sort_agents(const std::string& option, std::vector<int>& agents) {
    std::ranges::sort(agents);
    const auto repeated = std::ranges::adjacent_find(agents);
    if (repeated != agents.end())
        throw ConfigError(fmt::format("{}: agent {} is named twice", option, *repeated));
}

/// Agents separated by commas; ascending, each once.
std::vector<int> parse_agents(const std::string& option, const std::string& text) {
    std::istringstream words(text);
    std::vector<int> agents;
    for (std::string word; std::getline(words, word, ',');)
        agents.push_back(parse_agent(option, word));
    sort_agents(option, agents);
    return agents;
}

/// Agents separated by commas, and the word for all that is sent; ascending, each once.
void read_recorded_views(const ParsedOptions& options, TrainConfig& config) {
    constexpr std::string_view eavesdropper = "eavesdropper";
    std::istringstream words(options.text("record-view"));
    std::vector<int>& agents = config.record_views;
    for (std::string word; std::getline(words, word, ',');) {
        if (word == eavesdropper) {
            if (config.record_wire) throw ConfigError("--record-view: eavesdropper is named twice");
            config.record_wire = true;
            continue;
        }
        if (word.empty() || word.find_first_not_of("-0123456789") != std::string::npos)
            throw ConfigError(fmt::format(
                "--record-view: '{}' is neither an agent's number nor '{}'", word, eavesdropper));
        agents.push_back(parse_agent("--record-view", word));
    }
    if (agents.empty() && !config.record_wire)
        throw ConfigError(
            "--record-view: no agent is named (example: 2,5; also allowed: eavesdropper)");
    sort_agents("--record-view", agents);
}

}  // namespace

void read_peer_options(const ParsedOptions& options, TrainConfig& config) {
    if (options.has("noise-seed"))
        config.noise_seed = static_cast<std::uint64_t>(options.integer("noise-seed", 0));
    if (options.has("roster") != options.has("identity"))
        throw ConfigError(fmt::format(
            "--{}: --{} is needed too (both, or none for agents that do not prove who they are)",
            options.has("roster") ? "roster" : "identity",
            options.has("roster") ? "identity" : "roster"));
    if (options.has("roster"))
        config.trust = TrustConfig{options.text("roster"), options.text("identity")};
    config.bootstrap = parse_bootstrap("--bootstrap", options.text("bootstrap"));
    if (options.has("run-directory")) config.run_directory = options.text("run-directory");
    config.link_encryption = parse_switch(options, "link-encryption");
    const long partners = options.integer("mask-partners", 1);
    require_in_range("--mask-partners", static_cast<double>(partners), 1, 100000);
    config.mask_partners = static_cast<int>(partners);
    config.past_noise_mib = options.real("past-noise-memory");
    config.stall_warn_seconds = options.real("stall-warn");
    config.stall_abort_seconds = options.real("stall-abort");
    require_in_range("--stall-warn", config.stall_warn_seconds, 0, 1e9);
    require_in_range("--stall-abort", config.stall_abort_seconds, 0, 1e9);
    const bool ends = config.stall_abort_seconds > 0;
    if (ends && !options.given("stall-warn"))
        config.stall_warn_seconds =
            std::min(config.stall_warn_seconds, config.stall_abort_seconds / 2);
    if (ends && !(config.stall_abort_seconds > config.stall_warn_seconds))
        throw ConfigError(
            fmt::format("--stall-abort: {:g} is not allowed (0, or more than --stall-warn, {:g})",
                        config.stall_abort_seconds,
                        config.stall_warn_seconds));
    const long threads = options.integer("threads", 0);
    require_in_range("--threads", static_cast<double>(threads), 0, 4096);
    config.threads = static_cast<int>(threads);
}

void read_task_options(const ParsedOptions& options, TrainConfig& config) {
    config.task.task = options.text("task");
    config.task.data = options.text("data");
    if (options.has("test-data")) config.task.test_data = options.text("test-data");
    config.task.test_fraction = options.real("test-fraction");
    if (options.has("partition"))
        config.task.partition = parse_partition("--partition", options.text("partition"));
    config.task.standardise = parse_switch(options, "standardise");
    if (options.has("hidden")) config.task.hidden = options.integer("hidden", 1);
    config.task.seed = static_cast<std::uint64_t>(options.integer("seed", 0));
    config.l2 = options.real("l2");
}

TrainConfig read_train_config(ParsedOptions options) {
    resolve_task_defaults(options);
    TrainConfig config;
    config.graph = read_graph_config(options);
    config.plan = read_plan_config(options);
    read_task_options(options, config);
    config.evaluate_every = options.integer("eval-every", 0);
    config.dry_run = options.flag("dry-run");
    if (options.has("optimality-gap"))
        config.optimality_gap = parse_switch(options, "optimality-gap");
    config.secure_sum = parse_switch(options, "secure-sum");
    if (options.has("view")) config.views = options.text("view");
    if (options.has("record-view")) read_recorded_views(options, config);
    config.checkpoint_every = options.integer("checkpoint-every", 0);
    if (options.has("without") && !options.has("resume"))
        throw ConfigError(
            "--without: --resume DIR is needed too; agents leave a run that is taken up");
    if (options.has("resume")) {
        config.resume = ResumeConfig{options.text("resume"), {}};
        if (options.has("without"))
            config.resume->without = parse_agents("--without", options.text("without"));
    }
    read_peer_options(options, config);
    config.resolved_ini = options.as_ini("train");
    return config;
}

}  // namespace sotto::cli
