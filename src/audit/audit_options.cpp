#include "audit/audit_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "agent/round_faults.hpp"
#include "audit/attack.hpp"
#include "audit/known_models.hpp"
#include "options/graph_options.hpp"
#include "options/option_parser.hpp"
#include "options/option_set.hpp"
#include "options/peer_options.hpp"
#include "options/plan_options.hpp"
#include "options/task_options.hpp"
#include "options/train_options.hpp"
#include "planning/settle.hpp"
#include "sotto/core/error.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto {

namespace {

std::string attack_help() {
    std::vector<std::string> parts;
    for (const AttackRecord& attack : attacks().records())
        if (!attack.name.starts_with("poison:"))
            parts.push_back(fmt::format("{} ({})", attack.name, attack.help));
    parts.push_back(fmt::format("poison:KIND ({}; KIND is {})",
                                attacks().records().back().help,
                                fmt::join(lie_kinds.names(), ", ")));
    return fmt::format("what the attackers try: {}", fmt::join(parts, ", "));
}

std::vector<Option<AuditConfig>> attack_options() {
    return {{{.name = "attack", .common = true, .help = attack_help(), .details = R"(
[Threat models](../threat-models.md) explains what each of them measures. The default is `canary-records` if batches are
secretly sampled (`--participation poisson`, which is the default with the adjacencies `record-add-remove` and
`record-zero-out`), `membership` with `--data`, and `likelihood` otherwise. `canary-records` has defaults of its own:
`--adjacency record-add-remove`, `--batch-size 400`, 100 rounds. `reconstruction` takes `--data`, `--partition` (default
iid) and `--seed`. `membership` takes all task options, has 1000 rounds by default, and works with the tasks logistic,
softmax, mlp and cnn. `survey` looks at a training that has ended, and takes `--run`, `--confidence` and `--threads`
only. An option that has no meaning with the attack is refused (exit code 2).)"},
             bound(&AuditConfig::attack, any_text(among_others("", attacks().names())))},
            {{.name = "view", .common = true, .help = "who attacks: {}", .beside_run = true},
             bound(&AuditConfig::view, any_text(one_of(view_placeholder_list(ViewUse::audit))))}};
}

OptionFormat<std::vector<int>> agents_or_all() {
    return {among_others("all, or numbers of agents", {"all"}),
            [](const std::string& option, const std::string& text) -> std::vector<int> {
                if (text == "all") return {};
                const bool one = text.find(',') == std::string::npos;
                if (one) (void)number_or_word(option, text, {"all"}, 0);
                return parse_agent_numbers(option, text);
            },
            [](const std::vector<int>& agents) {
                return agents.empty() ? std::string("all") : agent_numbers_text(agents);
            }};
}

std::vector<Option<AuditConfig>> likelihood_options() {
    return {{{.name = "targets",
              .common = true,
              .other_names = {"target"},
              .help = "whose data are attacked: {} (those of one person); all: whoever is exposed "
                      "most",
              .beside_run = true},
             bound(&AuditConfig::targets, agents_or_all())},
            {{.name = "hypothesis",
              .help = "what the target contributes over the rounds: constant, random (signs), "
                      "worst (the signs that the view can tell apart best), or all three"},
             bound(&AuditConfig::hypothesis,
                   any_text(among_others("", {"constant", "random", "worst", "all"})))},
            {{.name = "trials",
              .common = true,
              .help = fmt::format("trials of every hypothesis (default: as many as --width needs), "
                                  "or canary records, {} to {} (default: {})",
                                  fewest_canary_records,
                                  most_canary_records,
                                  default_canary_records)},
             bound(&AuditConfig::trials, whole(1))},
            {{.name = "width",
              .help = "half width of the interval of mu, relative to mu",
              .beside_run = true},
             bound(&AuditConfig::width, any_real())},
            {{.name = "private-choice",
              .help = "K: deal the trials into private choices among K trainings on average, and "
                      "compare what each releases with the cost of such a choice",
              .details = R"(
The number of trainings of every choice is drawn as `sotto sweep --private-choice` draws it, and the score is the
attackers' own, which tells most about the secret ([threat models](../threat-models.md#what-does-a-private-choice-reveal)).
By default there are enough trials for 2000 choices, of the hypothesis that reveals most alone. With `--noise-seed` the
numbers of trainings follow from it too.)",
              .beside_run = true},
             bound(&AuditConfig::private_choice, real_between(1, 1e4))},
            {{.name = "choice-shape",
              .help = "shape of the number of trainings of --private-choice, above -1: 1 stops "
                      "with the same probability after each",
              .beside_run = true},
             bound(&AuditConfig::choice_shape, real_between(-0.99, 10))}};
}

std::vector<Option<AuditConfig>> verdict_options() {
    return {
        {{.name = "confidence",
          .help = "confidence of the intervals, and of the verdict over all tests together",
          .beside_run = true},
         bound(&AuditConfig::level, any_real())},
        {{.name = "run",
          .common = true,
          .help =
              "DIR of an earlier audit, whose recordings are analysed again, with another view; "
              "of a training with --attack survey",
          .reproduces_run = false,
          .beside_run = true},
         bound(&AuditConfig::run, folder_path())},
        {{.name = "report",
          .help = "FILE for a page about the attack: attackers, target, and what was measured "
                  "against what is accounted for (sotto report)",
          .reproduces_run = false},
         bound(&AuditConfig::report, file_path())}};
}

/// Options that have no meaning for an attack: those of the task, unless it trains one, and of the
/// likelihood attack, except those in its record and the seed.
OptionSet<AuditConfig> options_without_meaning(const AttackRecord& attack) {
    const auto has_meaning = [&](const std::string& name) {
        return name == "seed" || std::ranges::find(attack.options, name) != attack.options.end();
    };
    OptionGroup<AuditConfig> none = option_group<AuditConfig>("", {});
    for (const auto& option : likelihood_options())
        if (!has_meaning(option.name)) none.options.add(option);
    if (attack.fixed_inputs)
        for (const auto& option : task_options().options.records())
            if (!has_meaning(option.name))
                none.options.add(lifted<AuditConfig>(option, &AuditConfig::train));
    return OptionSet<AuditConfig>().add(none);
}

std::vector<std::string> attacks_with(const std::string& option) {
    std::vector<std::string> names;
    for (const AttackRecord& attack : attacks().records()) {
        if (attack.of_trainings) continue;
        const auto without = options_without_meaning(attack);
        if (without.look_up(option) == nullptr) names.push_back(attack.name);
    }
    return names;
}

/// A run's config.ini holds every option, so a default counts as not given.
void require_meaning(const AuditConfig& config) {
    const auto set = options_without_meaning(attacks().find("--attack", config.attack));
    const auto asked = set.written(config), defaults = set.written();
    for (const WrittenOption& option : asked.front().options)
        if (option.text != find_option(defaults, option.name)->text)
            throw ConfigError(
                fmt::format("--{}: has no meaning with --attack {} (it has one with {})",
                            option.name,
                            config.attack,
                            fmt::join(attacks_with(option.name), ", ")));
}

/// The training's options are those of its directory.
AuditConfig read_training_audit(const OptionTexts& given) {
    constexpr std::array allowed{"attack", "run", "confidence", "threads"};
    const auto set = audit_option_set();
    for (const auto& [name, text] : given)
        if (set.look_up(name) != nullptr && std::ranges::find(allowed, name) == allowed.end())
            throw ConfigError(
                fmt::format("--{}: has no meaning with --attack {}, which looks at the training "
                            "in --run (allowed: --run, --confidence, --threads)",
                            name,
                            given.at("attack")));
    AuditConfig config = set.read(given);
    const int threads = config.train.asked_threads;
    config.train = train_config_of_run("--run", run_of_training(config));
    config.train.asked_threads = threads;
    return config;
}

/// The first attack for the given or default participation; with data and without secret batches,
/// the first that trains on them.
std::string default_attack(const OptionTexts& given) {
    const OptionTexts texts = with_default_participation(given);
    const auto text = texts.find("participation");
    const bool sampled = text != texts.end() && text->second == name_of(Participation{1, true});
    const bool trains = !sampled && given.contains("data");
    return std::ranges::find_if(attacks().records(),
                                [&](const AttackRecord& attack) {
                                    return attack.sampled == sampled &&
                                           !(trains && attack.fixed_inputs);
                                })
        ->name;
}

}  // namespace

OptionGroup<AuditConfig>& audit_options() {
    static OptionGroup<AuditConfig> group = option_group<AuditConfig>(
        "Audit", {attack_options(), likelihood_options(), verdict_options()});
    return group;
}

OptionSet<AuditConfig> audit_option_set() {
    OptionSet<AuditConfig> set;
    set.add(
        graph_options(), [](auto& c) -> auto& { return c.train.graph; });
    set.add(
        plan_options(), [](auto& c) -> auto& { return c.train.plan; });
    set.add(task_options(), &AuditConfig::train);
    set.add(audit_options());
    set.add(peer_options(), &AuditConfig::train);
    set.with_standing("final-gossip", "0");
    for (const auto& [option, text] : attacks().find("--attack", AuditConfig{}.attack).defaults)
        set.with_standing(option, text);
    return set;
}

OptionTexts with_attack_defaults(OptionTexts given) {
    if (given.contains("run")) return given;
    const std::string attack = given.try_emplace("attack", default_attack(given)).first->second;
    for (const auto& [option, text] : attacks().find("--attack", attack).defaults)
        given.try_emplace(option, text);
    return given;
}

bool attacks_training(const OptionTexts& given) {
    const auto attack = given.find("attack");
    return attack != given.end() && attacks().find("--attack", attack->second).of_trainings;
}

AuditConfig read_audit_config(const OptionTexts& given) {
    if (attacks_training(given)) return read_training_audit(given);
    AuditConfig config = audit_option_set().read(
        with_default_clip(with_attack_defaults(with_agents_of_files(given))));
    require_meaning(config);
    require_given_values(config.train.plan);
    settle_train_config(config.train);
    if (!config.private_choice && config.choice_shape != AuditConfig{}.choice_shape)
        throw ConfigError("--choice-shape: has no meaning without --private-choice");
    (void)as_ini(config);
    return config;
}

std::string as_ini(const AuditConfig& config) {
    return ini_text("audit", audit_option_set().written(config));
}

TrainConfig train_config_of_run(std::string_view option, const std::string& directory) {
    const ConfigText config = config_of_run(option, directory);
    if (!std::filesystem::exists(std::filesystem::path(directory) / "audit.json"))
        return train_config_of(config);
    return read_audit_config(parse_options(with_general(audit_option_set().written()), {}, config))
        .train;
}

}  // namespace sotto
