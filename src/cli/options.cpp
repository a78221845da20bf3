#include "sotto/cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <cctype>
#include <fstream>
#include <sstream>

#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/names.hpp"
#include "sotto/experiment/task.hpp"
#include "sotto/noise/mechanism.hpp"

namespace sotto::cli {

namespace po = boost::program_options;

OptionGroup graph_options() {
    return {"Graph",
            {{"topology", "erdos-renyi", join(topology_names(), ", ")},
             {"agents", "20", "number of agents (under mpirun: the number of ranks)"},
             {"edge-probability", "0.5", "erdos-renyi: probability of every edge, in (0, 1]"},
             {"radius", "", "geometric: two agents nearer than this are joined"},
             {"graph-seed", "0", "seed of random topologies"},
             {"graph", "", "edge list FILE instead of a topology (plain or .gz)"},
             {"mixing", "metropolis", join(mixing_names(), ", ") + ", or FILE (text or .npy)"},
             {"mixing-schedule",
              "fixed",
              "fixed, random (a fresh graph of the topology every round), one-peer (exponential "
              "topology), or FILE.npy: mixing matrices of consecutive rounds, one below the "
              "other"}}};
}

OptionGroup plan_options() {
    return {"Noise plan",
            {{"mechanism", "pairs", join(mechanism_names(), ", ")},
             {"utility",
              "horizon:200",
              "what the noise plan minimises: one-step, horizon:H, trajectory, final"},
             {"spatial-mechanism",
              "pairs",
              "how space-time correlates agents: ldp, decor, corn, corn-hbc, pairs"},
             {"temporal",
              "dense",
              "temporal factor of mafalda and space-time: dense, banded:B, one-lag"},
             {"temporal-restart",
              "",
              "H: the temporal factor begins anew every H rounds, independent of those before"},
             {"epsilon", "10", "privacy budget, > 0"},
             {"delta", "1e-5", "privacy budget, in (0, 1)"},
             {"noise-std",
              "",
              "S instead of a budget: in every round noise of this standard deviation hides an "
              "agent whose messages all are seen"},
             {"calibration", "exact", "exact, rdp, paper"},
             {"adjacency",
              "agent",
              "what is protected: agent, record (replaced), record-zero-out, record-add-remove"},
             {"clip-norm", "0.1", "L2 clip C of a gradient, > 0"},
             {"rounds", "1000", "training rounds T"},
             {"step-size", "0.05", "eta, > 0"},
             {"step-schedule",
              "constant",
              "of the step size: constant, inverse-sqrt, inverse (eta / t), "
              "piecewise:ROUND:FACTOR,... (eta times FACTOR from that round on)"},
             {"gossip-steps", "1", "mixing steps K a round, each of which sends messages"},
             {"batch-size", "128", "records an agent uses a round: a number, or all"},
             {"participation", "every", "every, cyclic:b (record adjacencies)"},
             {"coalition-size",
              "",
              "colluding agents q to withstand (default: 1 for pairs and corn-hbc, else 0)"},
             {"seed-groups",
              "",
              "who may share a seed (pairs, corn-hbc): all, edges, all-pairs, neighbourhoods, "
              "circulant:K, FILE (default all-pairs; circulant:10 above 62 agents)"},
             {"common-variance",
              "",
              "one private variance for all agents (pairs, corn-hbc)",
              Option::Kind::flag},
             {"variance-cap", "1e4", "largest R_uu kappa_u where the optimum would diverge, > 1"},
             {"budgets", "", "FILE with an epsilon for every agent"},
             {"plan", "", "use the saved plan FILE instead of solving"}}};
}

OptionGroup task_options() {
    return {
        "Task",
        {{"task",
          "logistic",
          join(task_names(), ", ") +
              ", or FILE.so (a task of your own); averaging has other defaults: step-size 1, "
              "step-schedule inverse, l2 1, clip-norm 1, batch-size all, partition iid"},
         {"standardise",
          "on",
          "on, off: CSV columns by mean and deviation of the training data, which no guarantee "
          "counts"},
         {"hidden", "", "mlp: units of the hidden layer (default 128; for values 64)"},
         {"data",
          "synthetic",
          "synthetic, or FILE[,FILE...]: LIBSVM, IDX images, CSV or LEAF JSON, plain or .gz; %r is "
          "the agent's number"},
         {"test-data", "", "FILE[,FILE...] to test on, instead of splitting the data"},
         {"test-fraction", "0.2", "part of the data to test on, in (0, 1)"},
         {"partition",
          "",
          "iid, dirichlet:ALPHA, by-label:k, by-writer:k (LEAF; k writers an agent, default 10); "
          "default dirichlet:10, iid for values to predict"},
         {"l2", "0", "regularisation, added outside the clip"},
         {"seed", "1", "data, partition, batches and initialisation; never noise"}}};
}

OptionGroup run_options() {
    return {
        "Run",
        {{"eval-every", "0", "rounds between evaluations (0: fifty times a run)"},
         {"optimality-gap",
          "",
          "on, off: compare with the lowest loss possible, which shows rank 0 exact derivatives of "
          "every agent's loss (default: off over MPI where every agent has a data file of its "
          "own)"},
         {"secure-sum",
          "off",
          "on, off: agents learn only weighted sums of their neighbours' messages"},
         {"view",
          "",
          "additional views of the ledger, separated by ';': eavesdropper, node:a, coalition:a,b, "
          "secure-sum:a, all-messages:a,b, all-nodes"},
         {"record-view",
          "",
          "a,b,...: agents whose received messages, gradients, noise and seeds are written to the "
          "run directory; eavesdropper (alone or among them): what every agent sends"},
         {"checkpoint-every",
          "0",
          "rounds between checkpoints to go on from after a failure (0: only where a run is "
          "stopped)"},
         {"resume",
          "",
          "DIR: take up the run in this directory, with its options",
          Option::Kind::value,
          false},
         {"without",
          "",
          "a,b,...: agents that leave the run that is taken up",
          Option::Kind::value,
          false},
         {"dry-run",
          "",
          "only print plan, epsilon, memory and estimated time",
          Option::Kind::flag,
          false}}};
}

OptionGroup peer_options() {
    return {
        "Peers and keys",
        {{"run-directory",
          "",
          "DIR to write to (default runs/<time>-<mechanism>)",
          Option::Kind::value,
          false},
         {"noise-seed", "", "reproducible noise: INSECURE, for experiments; the ledger says so"},
         {"roster",
          "",
          "FILE with the public keys of the agents that may take part (with --identity)"},
         {"identity", "", "FILE with this agent's identity, of `sotto keygen`; %r is its number"},
         {"bootstrap",
          "central",
          "who builds graph, mixing and plan: central (rank 0), distributed (every rank; all must "
          "come to the same)"},
         {"link-encryption",
          "on",
          "on, off: encrypt and authenticate every message between agents (over MPI; in one "
          "process nothing crosses a wire)"},
         {"mask-partners",
          "16",
          "secure-sum: mask partners H on each side; up to 2H+1 neighbours all are joined, above a "
          "sum withstands 2H-1 colluding ones"},
         {"past-noise-memory",
          "2048",
          "MiB of past noise a process keeps where noise is correlated over rounds; beyond, it is "
          "drawn again every round"},
         {"stall-warn",
          "30",
          "seconds a rank waits for others in the rounds before it asks and names those that do "
          "not "
          "answer (0: never; at most half of --stall-abort by default)",
          Option::Kind::value,
          false},
         {"stall-abort",
          "300",
          "seconds after which it gives up and ends the job with exit code 5 (0: never)",
          Option::Kind::value,
          false},
         {"threads", "0", "threads of one process hosting many agents (0: all cores)"}}};
}

OptionGroup common_options() {
    return {"General",
            {{"config",
              "",
              "INI FILE with any of these options; the command line wins",
              Option::Kind::value,
              false},
             {"json",
              "",
              "write one JSON object to FILE, or to standard output with -",
              Option::Kind::output,
              false},
             {"quiet", "", "no progress and no report", Option::Kind::flag, false},
             {"help", "", "this text", Option::Kind::flag, false}}};
}

namespace {

po::options_description description_of(const std::vector<OptionGroup>& groups) {
    po::options_description all;
    for (const auto& group : groups) {
        po::options_description part(group.title);
        for (const auto& option : group.options) {
            if (option.kind == Option::Kind::flag) {
                part.add_options()(option.name.c_str(), po::bool_switch(), option.help.c_str());
            } else {
                auto* value = po::value<std::string>()->value_name(
                    option.kind == Option::Kind::output ? "FILE|-" : "VALUE");
                if (option.kind == Option::Kind::output) value->implicit_value("-", "-");
                if (!option.default_text.empty()) value->default_value(option.default_text);
                part.add_options()(option.name.c_str(), value, option.help.c_str());
            }
        }
        all.add(part);
    }
    return all;
}

/// The name of the option that is positional; empty where there is none.
std::string positional_of(const std::vector<OptionGroup>& groups) {
    for (const auto& group : groups)
        for (const auto& option : group.options)
            if (option.positional) return option.name;
    return {};
}

std::vector<std::string> names_of(const std::vector<OptionGroup>& groups) {
    std::vector<std::string> names;
    for (const auto& group : groups)
        for (const auto& option : group.options) names.push_back(option.name);
    return names;
}

[[noreturn]] void throw_unknown(const std::string& where,
                                const std::string& name,
                                const std::vector<std::string>& allowed) {
    std::string message = fmt::format("{}: there is no option '{}'", where, name);
    if (const auto near = nearest_name(name, allowed))
        message += fmt::format("; did you mean '{}'?", *near);
    throw ConfigError(message);
}

/// "--json -" and a bare "--json": Boost takes "-" for a stray word, "--json=-" it understands.
std::vector<std::string> normalised(const std::vector<std::string>& arguments) {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--json") {
            const bool has_value = i + 1 < arguments.size() &&
                                   (arguments[i + 1] == "-" || !arguments[i + 1].starts_with("-"));
            result.push_back("--json=" + (has_value ? arguments[++i] : std::string("-")));
        } else {
            result.push_back(arguments[i]);
        }
    }
    return result;
}

}  // namespace

ParsedOptions::ParsedOptions(const std::vector<OptionGroup>& groups,
                             const std::vector<std::string>& arguments,
                             const std::optional<ConfigText>& config)
    : groups_(groups) {
    const po::options_description description = description_of(groups);
    const std::vector<std::string> names = names_of(groups);
    const std::string positional = positional_of(groups);
    po::variables_map map;
    std::map<std::string, bool> given;
    std::string where = "command line";
    const auto note_given = [&](const po::parsed_options& parsed) {
        for (const auto& option : parsed.options) given[option.string_key] = true;
    };
    try {
        constexpr int style =
            po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
        po::parsed_options parsed = po::command_line_parser(normalised(arguments))
                                        .options(description)
                                        .style(style)
                                        .allow_unregistered()
                                        .run();
        for (auto& option : parsed.options) {
            if (!option.unregistered && option.position_key == -1) continue;
            const std::string word = option.original_tokens.front();
            if (!word.starts_with("-")) {
                if (positional.empty())
                    throw ConfigError(
                        fmt::format("'{}' is not an option; options start with --", word));
                // Given twice, Boost says so.
                option = po::option(positional, {word});
                continue;
            }
            throw_unknown(where, word.substr(0, word.find('=')), [&] {
                std::vector<std::string> dashed;
                for (const auto& name : names) dashed.push_back("--" + name);
                return dashed;
            }());
        }
        note_given(parsed);
        po::store(parsed, map);
        if (config || map.contains("config")) {
            where = config ? config->source : map["config"].as<std::string>();
            std::istringstream content(config ? config->text : read_file(where));
            const po::parsed_options file = po::parse_config_file(content, description, true);
            for (const auto& option : file.options)
                if (option.unregistered) throw_unknown(where, option.string_key, names);
            note_given(file);
            po::store(file, map);
        }
    } catch (const po::error& error) {
        throw ConfigError(fmt::format("{}: {}", where, error.what()));
    }
    for (const auto& [name, value] : map) {
        const bool is_flag = value.value().type() == typeid(bool);
        values_[name] = {is_flag ? (value.as<bool>() ? "true" : "false") : value.as<std::string>(),
                         given.contains(name)};
    }
}

bool ParsedOptions::given(const std::string& name) const {
    const auto entry = values_.find(name);
    return entry != values_.end() && entry->second.given;
}

bool ParsedOptions::flag(const std::string& name) const { return text(name) == "true"; }

const std::string& ParsedOptions::text(const std::string& name) const {
    const auto entry = values_.find(name);
    if (entry == values_.end()) throw ConfigError(fmt::format("--{}: a value is needed", name));
    return entry->second.text;
}

double ParsedOptions::real(const std::string& name) const {
    return parse_real("--" + name, text(name));
}

long ParsedOptions::integer(const std::string& name, long minimum) const {
    const long long value = parse_integer("--" + name, text(name));
    if (value < minimum)
        throw ConfigError(
            fmt::format("--{}: {} is not allowed (must be at least {})", name, value, minimum));
    return static_cast<long>(value);
}

std::string ParsedOptions::as_ini(std::string_view command) const {
    std::string result =
        fmt::format("# Start this run again: sotto {} --config THIS_FILE\n", command);
    for (const auto& group : groups_) {
        std::string lines;
        for (const auto& option : group.options) {
            if (!option.reproduces_run || !has(option.name)) continue;
            if (text(option.name).find_first_of("#\n") != std::string::npos)
                throw ConfigError(fmt::format(
                    "--{}: '{}' holds a # or a line break, which the run's config.ini cannot keep",
                    option.name,
                    text(option.name)));
            lines += fmt::format("{} = {}\n", option.name, text(option.name));
        }
        if (!lines.empty()) result += "\n# " + group.title + "\n" + lines;
    }
    return result;
}

std::string ParsedOptions::as_lines() const {
    std::string result;
    for (const auto& group : groups_)
        for (const auto& option : group.options)
            if (option.reproduces_run)
                result += fmt::format(
                    "--{} {}\n", option.name, has(option.name) ? text(option.name) : "not given");
    return result;
}

std::string positional_usage(const std::vector<OptionGroup>& groups) {
    std::string name = positional_of(groups);
    if (name.empty()) return {};
    std::ranges::transform(
        name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return fmt::format(" [{}]", name);
}

std::string help_text(const std::vector<OptionGroup>& groups) {
    std::ostringstream stream;
    stream << description_of(groups);
    if (const std::string word = positional_of(groups); !word.empty())
        stream << fmt::format("A word by itself is the value of --{}.\n", word);
    return stream.str();
}

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
    if (!(config.delta > 0 && config.delta < 1))
        throw ConfigError(fmt::format(
            "--delta: {} is not allowed (must lie strictly between 0 and 1)", config.delta));
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
