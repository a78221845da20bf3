#include "commands/sweep/sweep_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "commands/sweep/sweep_folder.hpp"
#include "config/agent_path.hpp"
#include "options/option_parser.hpp"
#include "options/option_set.hpp"
#include "options/train_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/core/names.hpp"

namespace sotto::cli {
namespace po = boost::program_options;

namespace {

/// Options of a training that the sweep itself sets.
constexpr std::array<std::string_view, 2> set_by_the_sweep{"seed", "threads"};

/// Whether a sweep file may set the option. It may not set where a run is written or how it is
/// resumed.
bool is_of_trainings(const std::string& name) {
    const OptionSet<TrainConfig> of_training = train_option_set();
    const auto* option = of_training.look_up(name);
    return option != nullptr && option->reproduces_run;
}

bool is_of_sweep(const std::string& name) {
    return sweep_options().options.look_up(name) != nullptr ||
           std::ranges::find(set_by_the_sweep, name) != set_by_the_sweep.end();
}

std::vector<std::string> allowed_keys() {
    std::vector<std::string> keys;
    for (const auto& group : train_option_set().groups())
        for (const auto& option : group.options)
            if (option.reproduces_run) keys.push_back(option.name);
    for (const std::string& name : sweep_options().options.names()) keys.push_back(name);
    return keys;
}

void set(std::vector<SweepSetting>& settings, SweepSetting setting) {
    const auto known = std::ranges::find(settings, setting.option, &SweepSetting::option);
    if (known == settings.end())
        settings.push_back(std::move(setting));
    else
        *known = std::move(setting);
}

/// The lines of a sweep file, by section ("" before the first).
struct SweepLines {
    std::vector<SweepVariant> sections{{"", {}}};

    SweepVariant& section(const std::string& name) {
        const auto known = std::ranges::find(sections, name, &SweepVariant::name);
        return known != sections.end() ? *known : sections.emplace_back(SweepVariant{name, {}});
    }
};

void require_key(const std::string& name, const std::string& source) {
    const std::vector<std::string> allowed = allowed_keys();
    if (std::ranges::find(allowed, name) != allowed.end()) return;
    std::string message = fmt::format("{}: '{}' is not an option of a sweep", source, name);
    if (const auto near = nearest_name(name, allowed))
        message += fmt::format("; did you mean '{}'?", *near);
    if (find_option(with_general(train_option_set().written()), name) != nullptr)
        message += " (it belongs to a single run)";
    throw ConfigError(message);
}

SweepLines lines_of(const std::string& text, const std::string& source) {
    const po::options_description none;
    std::istringstream stream(text);
    SweepLines lines;
    try {
        for (const auto& line : po::parse_config_file(stream, none, true).options) {
            const std::size_t dot = line.string_key.rfind('.');
            const bool in_section = dot != std::string::npos;
            const std::string name = in_section ? line.string_key.substr(dot + 1) : line.string_key;
            SweepVariant& section =
                lines.section(in_section ? line.string_key.substr(0, dot) : std::string());
            require_key(name, source);
            const std::string where = fmt::format("{}: {}", source, name);
            if (std::ranges::find(section.settings, name, &SweepSetting::option) !=
                section.settings.end())
                throw ConfigError(fmt::format("{} is set twice", where));
            section.settings.push_back({name, word_list().read(where, line.value.front())});
        }
    } catch (const po::error& error) {
        throw ConfigError(fmt::format("{}: {}", source, error.what()));
    }
    return lines;
}

void require_own_lines_first(const SweepLines& lines, const std::string& source) {
    for (const SweepVariant& section : lines.sections)
        for (const SweepSetting& setting : section.settings)
            if (!section.name.empty() && is_of_sweep(setting.option))
                throw ConfigError(
                    fmt::format("{}: {} holds for the whole sweep; set it before the first "
                                "[section]",
                                source,
                                setting.option));
}

/// The values of an option before the first section; empty if it is not set there.
std::vector<std::string> values_in(const SweepLines& lines, const std::string& name) {
    const auto& settings = lines.sections.front().settings;
    const auto found = std::ranges::find(settings, name, &SweepSetting::option);
    return found != settings.end() ? found->values : std::vector<std::string>();
}

/// Reads one of the sweep's own options from the file.
template <class Config>
void read_own(const Option<Config>& option, const SweepLines& lines, Config& config) {
    const std::vector<std::string> values = values_in(lines, option.name);
    if (values.empty()) return;
    const bool list = option.value.kind == OptionKind::list;
    if (!list && values.size() != 1)
        throw ConfigError(
            fmt::format("{}: one value is needed, not {}", option.name, values.size()));
    option.value.read(config, option.name, list ? word_list().write(values) : values.front());
}

/// The sweep's own options, from the command line, else the file, else the defaults.
SweepConfig read_own_options(const OptionTexts& given, const SweepLines& lines) {
    SweepOptions options = sweep_option_set().read(given);
    for (const auto& option : sweep_options().options.records())
        if (!given.contains(option.name)) read_own(option, lines, options);
    SweepConfig config = std::move(options.sweep);
    if (const auto text = given.find("seed"); text != given.end())
        config.seeds = word_list().read("--seed", text->second);
    else if (auto values = values_in(lines, "seed"); !values.empty())
        config.seeds = std::move(values);
    TrainConfig train;
    const OptionSet<TrainConfig> of_training = train_option_set();
    const Option<TrainConfig>& threads = *of_training.look_up("threads");
    if (const auto text = given.find("threads"); text != given.end())
        threads.value.read(train, "--threads", text->second);
    else
        read_own(threads, lines, train);
    config.threads = train.asked_threads;
    return config;
}

/// Options of the trainings on the command line.
std::vector<SweepSetting> forced_settings(const OptionTexts& given) {
    std::vector<SweepSetting> forced;
    for (const auto& group : train_option_set().groups())
        for (const auto& option : group.options)
            if (const auto text = given.find(option.name);
                text != given.end() && option.reproduces_run && !is_of_sweep(option.name))
                forced.push_back({option.name, word_list().read("--" + option.name, text->second)});
    return forced;
}

std::vector<SweepVariant> variants_of(const SweepLines& lines,
                                      const std::vector<SweepSetting>& forced) {
    std::vector<SweepVariant> variants;
    for (std::size_t s = 0; s < lines.sections.size(); ++s) {
        if (s == 0 && lines.sections.size() > 1) continue;
        SweepVariant variant{s == 0 ? "all" : lines.sections[s].name, {}};
        for (const auto* settings :
             {&lines.sections.front().settings, &lines.sections[s].settings, &forced})
            for (const SweepSetting& setting : *settings)
                if (!is_of_sweep(setting.option)) set(variant.settings, setting);
        variants.push_back(std::move(variant));
    }
    return variants;
}

std::vector<Option<SweepOptions>> places() {
    return {{{.name = "file",
              .common = true,
              .help = "FILE with the options and the values to try",
              .positional = true,
              .reproduces_run = false},
             bound(&SweepOptions::file, file_path())},
            {{.name = "output",
              .common = true,
              .help = "DIR of results and runs (default sweeps/<name of FILE>)",
              .reproduces_run = false},
             bound(&SweepOptions::output, folder_path())}};
}

std::vector<Option<SweepConfig>> choices() {
    return {
        {{.name = "choose",
          .common = true,
          .help = "options whose best value is chosen for every cell on a validation split",
          .reproduces_run = false},
         bound(&SweepConfig::choose, word_list())},
        {{.name = "choose-by",
          .common = true,
          .help = "figure by which values are chosen, and which is drawn: " + join(sweep_metrics()),
          .reproduces_run = false},
         bound(&SweepConfig::choose_by, any_text(among_others("", sweep_metrics())))},
        {{.name = "choose-further",
          .help = "largest number of further values tried on each side while the best one is at "
                  "the edge (0: none)",
          .reproduces_run = false},
         bound(&SweepConfig::choose_further, whole(0, 100))},
        {{.name = "validation-seeds",
          .help =
              "seeds of the trainings that choose values; they must differ from those of --seed",
          .reproduces_run = false},
         bound(&SweepConfig::validation_seeds, word_list())},
        {{.name = "validation-fraction",
          .help = "part of the training data that is held out to choose values on, in (0, 1)",
          .reproduces_run = false},
         bound(&SweepConfig::validation_fraction, any_real())},
        {{.name = "keep-runs",
          .common = true,
          .help = "{}: keep the run directories as well as the figures",
          .reproduces_run = false},
         bound(&SweepConfig::keep_runs, on_off())},
        {{.name = "private-choice",
          .common = true,
          .help = "K: train a secret, random number of configurations, K on average, and release "
                  "the best alone, at less than twice the epsilon of one where K is 16",
          .details = R"(
Every training is of a configuration drawn from all combinations of values in FILE. What the folder `released` then holds is protected by
the epsilon that the command prints before it starts, whoever reads it; the rest of DIR is not ([sweeps](../sweeps.md#a-private-choice)).
Several values of `--choose` are drawn from like all others. `sotto account --private-choice` computes the cost alone.)",
          .reproduces_run = false},
         bound(&SweepConfig::private_choice, real_between(1, 1e4))},
        {{.name = "choice-shape",
          .help = "shape of the number of trainings, above -1: 1 stops with the same probability "
                  "after each, less is cheaper and varies more",
          .reproduces_run = false},
         bound(&SweepConfig::choice_shape, real_between(-0.99, 10))},
        {{.name = "choice-data",
          .help = "{}: what the scores of a private choice are of; held-out records are protected "
                  "by noise, test data must be public",
          .reproduces_run = false},
         bound(&SweepConfig::choice_data, words(choice_data_names))},
        {{.name = "plot",
          .common = true,
          .help = "option on the x axis of results.svg (needs gnuplot)",
          .reproduces_run = false},
         bound(&SweepConfig::plot, any_text())}};
}

/// Requires that every option of trainings on the command line is one that trainings of a sweep
/// get.
void require_used(const OptionTexts& given) {
    for (const auto& group : train_option_set().groups())
        for (const auto& option : group.options)
            if (!option.reproduces_run && given.contains(option.name))
                throw ConfigError(
                    fmt::format("--{}: belongs to a single run, and a sweep would ignore it (leave "
                                "it out, or give it to `sotto train`)",
                                option.name));
}

}  // namespace

OptionGroup<SweepOptions>& sweep_options() {
    static OptionGroup<SweepOptions> group = option_group<SweepOptions>(
        "Sweep", {places(), lifted<SweepOptions>(choices(), &SweepOptions::sweep)});
    return group;
}

OptionSet<SweepOptions> sweep_option_set() {
    return OptionSet<SweepOptions>().add(sweep_options());
}

SweepConfig read_sweep(const OptionTexts& given,
                       const std::string& text,
                       const std::string& source) {
    require_used(given);
    const SweepLines lines = lines_of(text, source);
    require_own_lines_first(lines, source);
    SweepConfig config = read_own_options(given, lines);
    config.variants = variants_of(lines, forced_settings(given));
    for (const std::string& name : config.choose)
        if (!is_of_trainings(name) || is_of_sweep(name))
            throw ConfigError(fmt::format(
                "choose: '{}' is not an option of the trainings (example: step-size)", name));
    return config;
}
}  // namespace sotto::cli

namespace sotto {
namespace {

/// The digest of a file, read piece by piece.
std::string file_digest(const std::string& name) {
    Hasher hasher("sotto.sweep.file.v1");
    std::ifstream file(name, std::ios::binary);
    std::vector<char> piece(1 << 20);
    do {
        file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        hasher.add(std::string_view(piece.data(), static_cast<std::size_t>(file.gcount())));
    } while (file);
    if (!file.eof()) throw DataError(fmt::format("{}: cannot be read", name));
    return to_hex(hasher.finish());
}

}  // namespace

std::map<std::string, std::string> file_digests(const SweepConfig& config) {
    std::map<std::string, std::string> digests;
    for (const SweepVariant& variant : config.variants)
        for (const SweepSetting& setting : variant.settings) {
            // Skips the budget account, which changes with every training.
            if (!changes_results(setting.option)) continue;
            for (const std::string& value : setting.values)
                for (const std::string& word : listed_files(value, 0))
                    if (std::error_code none; std::filesystem::is_regular_file(word, none))
                        digests.try_emplace(word);
        }
    for (auto& [name, digest] : digests) digest = file_digest(name);
    return digests;
}
}  // namespace sotto
