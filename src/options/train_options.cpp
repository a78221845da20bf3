#include "options/train_options.hpp"

#include "options/default_clip.hpp"
#include "options/default_participation.hpp"
#include "options/graph_options.hpp"
#include "options/option_checks.hpp"
#include "options/peer_options.hpp"
#include "options/plan_options.hpp"
#include "options/run_options.hpp"
#include "options/task_defaults.hpp"
#include "options/task_options.hpp"

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

TrainConfig read_train_config(const OptionTexts& given, const std::set<std::string>& kept) {
    TrainConfig config = train_option_set().read(with_default_clip(
        with_default_participation(with_task_defaults(with_agents_of_files(given)))));
    config.plan.default_final_gossip = !given.contains("final-gossip");
    settle_train_config(config, given.contains("stall-warn") && !kept.contains("stall-warn"));
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

}  // namespace sotto
