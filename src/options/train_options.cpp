#include "options/train_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "core/files.hpp"
#include "options/graph_options.hpp"
#include "options/option_parser.hpp"
#include "options/peer_options.hpp"
#include "options/plan_options.hpp"
#include "options/run_options.hpp"
#include "options/task_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/mechanism.hpp"

namespace sotto {

OptionSet<TrainConfig> train_option_set() {
    OptionSet<TrainConfig> set;
    set.add(graph_options(), &TrainConfig::graph);
    set.add(plan_options(), &TrainConfig::plan);
    set.add(task_options());
    set.add(run_options());
    set.add(peer_options());
    return set;
}

TrainConfig read_train_config(const OptionTexts& given) {
    TrainConfig config = train_option_set().read(with_default_clip(
        with_default_participation(with_task_defaults(with_agents_of_files(given)))));
    config.plan.open.final_gossip = leaves_final_gossip_open(given, false);
    settle_train_config(config);
    (void)as_ini(config);
    return config;
}

std::string as_ini(const TrainConfig& config) {
    return ini_text("train", train_option_set().written(config));
}

std::string agreement_lines(const TrainConfig& config) {
    return agreement_lines(train_option_set().written(config));
}

bool changes_results(std::string_view option) {
    static const OptionSet<TrainConfig> set = train_option_set();
    const Option<TrainConfig>* const known = set.look_up(option);
    return known == nullptr || known->changes_results;
}

OptionTexts own_options(const TrainConfig& config) {
    OptionTexts own;
    for (const WrittenGroup& group : train_option_set().written(config))
        for (const WrittenOption& option : group.options)
            if ((!option.peers_may_set || option.shapes_sums) && option.text)
                own[option.name] = *option.text;
    return own;
}

bool is_own_with_secure_sums_only(std::string_view name) {
    const OptionSet<TrainConfig> set = train_option_set();
    const Option<TrainConfig>* option = set.look_up(name);
    return option != nullptr && option->peers_may_set && option->shapes_sums;
}

ConfigText config_of_run(std::string_view option, const std::string& directory) {
    const std::string file = (std::filesystem::path(directory) / "config.ini").string();
    if (!std::filesystem::exists(file))
        throw ConfigError(
            fmt::format("{}: {} holds no run (there is no config.ini)", option, directory));
    return {read_file(file, largest_config_bytes), file};
}

void require_kept_options(const ConfigText& of_run) {
    const std::vector<WrittenGroup> groups = with_general(train_option_set().written());
    for (const auto& [name, text] : parse_options(groups, {}, of_run))
        if (!find_option(groups, name)->reproduces_run)
            throw ConfigError(
                fmt::format("{}: '{}' is not an option that a run keeps; give --{} on the command "
                            "line of every rank",
                            of_run.source,
                            name,
                            name));
}

TrainConfig train_config_of(const ConfigText& config) {
    return read_train_config(parse_options(with_general(train_option_set().written()), {}, config));
}

void require_one_source_of_noise(const PlanConfig& config) {
    if (!config.noise_std) return;
    const auto refuse = [](std::string_view option) {
        throw ConfigError(fmt::format(
            "--noise-std: --{} is given too; give only one of them, from which the noise follows",
            option));
    };
    // config.ini of a run has every option, so a default value there is not a request.
    if (config.epsilon != PlanConfig{}.epsilon) refuse("epsilon");
    if (config.budgets_file) refuse("budgets");
}

void require_covariance_file(const PlanConfig& config) {
    const Mechanism& mechanism = find_mechanism("mechanism", config.mechanism);
    if (mechanism.takes_covariance == config.covariance_file.has_value()) return;
    if (mechanism.takes_covariance)
        throw ConfigError(fmt::format(
            "--mechanism: {} needs --covariance FILE.npy too, with n x n numbers", mechanism.name));
    throw ConfigError(fmt::format("--covariance: not possible with mechanism {} (allowed: {})",
                                  mechanism.name,
                                  join(mechanisms_with(&Mechanism::takes_covariance), ", ")));
}

void require_roster_with_identity(const TrainConfig& config) {
    if (!config.trust) return;
    const bool roster = !config.trust->roster.empty();
    if (roster == !config.trust->identity.empty()) return;
    throw ConfigError(
        fmt::format("--{}: --{} is needed too (give both, or neither for agents that do not prove "
                    "who they are)",
                    roster ? "roster" : "identity",
                    roster ? "identity" : "roster"));
}

void require_resumed_run(const TrainConfig& config) {
    if (!config.resume) return;
    const bool leaves = !config.resume->without.empty(), joins = !config.resume->joining.empty();
    if (config.resume->directory.empty())
        throw ConfigError(
            leaves  ? "--without: --resume DIR is needed too; agents leave a run that "
                      "is resumed"
            : joins ? "--joining: --resume DIR is needed too; agents join a run that "
                      "is resumed"
                    : "--finish: --resume DIR is needed too; only a resumed run is finished");
    if ((leaves || joins) && config.resume->finish)
        throw ConfigError(
            fmt::format("--finish: not possible with --{}; a run ends with the agents that it has, "
                        "from their checkpoints",
                        leaves ? "without" : "joining"));
}

void require_sampling_with_padding(const TrainConfig& config) {
    if (config.pad_rounds && !config.plan.participation.poisson)
        throw ConfigError(
            fmt::format("--pad-rounds: has no meaning with --participation {}, whose batches have "
                        "a size that everybody knows (allowed: poisson)",
                        name_of(config.plan.participation)));
}

void require_dry_run_with_network(const TrainConfig& config) {
    if (config.network && !config.dry_run)
        throw ConfigError("--network: --dry-run is needed too; a training uses the real network");
}

void require_records_of_units(const TrainConfig& config) {
    if (!config.task.table.unit.empty() && protects_agents(config.plan.adjacency))
        throw ConfigError(fmt::format(
            "unit-column: {} is given, but adjacency {} protects everything of an agent together "
            "(allowed with it: --adjacency record, record-add-remove, record-zero-out)",
            config.task.table.unit,
            name_of(config.plan.adjacency)));
}

void settle_train_config(TrainConfig& config) {
    require_one_source_of_noise(config.plan);
    require_covariance_file(config.plan);
    require_resumed_run(config);
    require_dry_run_with_network(config);
    require_roster_with_identity(config);
    require_sampling_with_padding(config);
    require_records_of_units(config);
}

}  // namespace sotto
