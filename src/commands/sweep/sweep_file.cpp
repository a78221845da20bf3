#include "commands/sweep/sweep_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <iomanip>
#include <sstream>

#include "commands/cli/command.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto::cli {

namespace po = boost::program_options;

namespace {

const Option* find_option(const std::vector<OptionGroup>& groups, const std::string& name) {
    for (const OptionGroup& group : groups)
        for (const Option& option : group.options)
            if (option.name == name) return &option;
    return nullptr;
}

/// May a sweep set it? Not what says where a single run is written, or how it is taken up.
bool belongs_to_trainings(const Option& option) {
    return option.reproduces_run && option.name != "threads";
}

std::vector<std::string> allowed_keys() {
    std::vector<std::string> keys;
    for (const OptionGroup& group : train_options())
        for (const Option& option : group.options)
            if (belongs_to_trainings(option)) keys.push_back(option.name);
    for (const Option& option : sweep_options().options) keys.push_back(option.name);
    keys.emplace_back("threads");
    return keys;
}

std::vector<std::string> values_of(const std::string& where, const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> values;
    for (std::string value; stream >> std::quoted(value);) {
        if (std::ranges::find(values, value) != values.end())
            throw ConfigError(fmt::format("{}: the value {} is there twice", where, value));
        values.push_back(value);
    }
    if (values.empty()) throw ConfigError(fmt::format("{}: a value is needed", where));
    return values;
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
            const std::vector<std::string> allowed = allowed_keys();
            if (std::ranges::find(allowed, name) == allowed.end()) {
                std::string message = fmt::format("{}: '{}' is no option of a sweep", source, name);
                const auto near = nearest_name(name, allowed);
                if (near) message += fmt::format("; did you mean '{}'?", *near);
                if (find_option(train_options(), name) != nullptr)
                    message += " (it belongs to a single run)";
                throw ConfigError(message);
            }
            const std::string where = fmt::format("{}: {}", source, name);
            if (std::ranges::find(section.settings, name, &SweepSetting::option) !=
                section.settings.end())
                throw ConfigError(fmt::format("{} is set twice", where));
            section.settings.push_back({name, values_of(where, line.value.front())});
        }
    } catch (const po::error& error) {
        throw ConfigError(fmt::format("{}: {}", source, error.what()));
    }
    return lines;
}

/// Options of the sweep itself: from the command line, else the file, else their defaults.
class OwnOptions {
  public:
    OwnOptions(const ParsedOptions& options, SweepLines& lines, const std::string& source)
        : options_(options), lines_(lines) {
        for (const SweepVariant& section : lines.sections)
            for (const SweepSetting& setting : section.settings)
                if (!section.name.empty() && is_own(setting.option))
                    throw ConfigError(fmt::format(
                        "{}: {} holds for the whole sweep; set it before the first [section]",
                        source,
                        setting.option));
    }

    [[nodiscard]] static bool is_own(const std::string& name) {
        return find_option({sweep_options()}, name) != nullptr || name == "threads" ||
               name == "seed";
    }

    /// Empty where it is not set and has no default.
    [[nodiscard]] std::vector<std::string> values(const std::string& name) const {
        if (!options_.given(name)) {
            const auto& settings = lines_.sections.front().settings;
            const auto found = std::ranges::find(settings, name, &SweepSetting::option);
            if (found != settings.end()) return found->values;
        }
        if (!options_.has(name)) return {};
        return values_of("--" + name, options_.text(name));
    }
    [[nodiscard]] std::string value(const std::string& name) const {
        const std::vector<std::string> all = values(name);
        if (all.size() != 1)
            throw ConfigError(fmt::format("{}: one value is needed, not {}", name, all.size()));
        return all.front();
    }

  private:
    const ParsedOptions& options_;
    SweepLines& lines_;
};

}  // namespace

OptionGroup sweep_options() {
    return {"Sweep",
            {{"file",
              "",
              "FILE with the options and the values to try",
              Option::Kind::value,
              false,
              true},
             {"output",
              "",
              "DIR of results and runs (default sweeps/<name of FILE>)",
              Option::Kind::value,
              false},
             {"choose",
              "step-size",
              "options whose best value is chosen for every cell on a validation split",
              Option::Kind::value,
              false},
             {"choose-by",
              "test_loss",
              "figure that chooses, and is drawn: " + join(sweep_metrics()),
              Option::Kind::value,
              false},
             {"validation-seeds",
              "101",
              "seeds of the trainings that choose; none of --seed",
              Option::Kind::value,
              false},
             {"validation-fraction",
              "0.2",
              "part of the training data held out to choose on, in (0, 1)",
              Option::Kind::value,
              false},
             {"keep-runs",
              "on",
              "on, off: keep the run directories beside the figures",
              Option::Kind::value,
              false},
             {"plot",
              "",
              "option on the x axis of results.svg (needs gnuplot)",
              Option::Kind::value,
              false}}};
}

SweepConfig read_sweep(const ParsedOptions& options,
                       const std::string& text,
                       const std::string& source) {
    SweepLines lines = lines_of(text, source);
    const OwnOptions own(options, lines, source);
    SweepConfig config;
    config.seeds = own.values("seed");
    config.choose = own.values("choose");
    config.choose_by = own.value("choose-by");
    config.validation_seeds = own.values("validation-seeds");
    config.validation_fraction =
        parse_real("validation-fraction", own.value("validation-fraction"));
    const std::string keep = own.value("keep-runs");
    const std::vector<std::string> switches{"on", "off"};
    if (keep != "on" && keep != "off") throw unknown_name_error("keep-runs", keep, switches);
    config.keep_runs = keep == "on";
    if (!own.values("plot").empty()) config.plot = own.value("plot");
    const long long threads = parse_integer("threads", own.value("threads"));
    require_in_range("threads", static_cast<double>(threads), 0, 4096);
    config.threads = static_cast<int>(threads);

    std::vector<SweepSetting> forced;  // by the command line
    const std::vector<OptionGroup> of_train = train_options();
    for (const OptionGroup& group : of_train)
        for (const Option& option : group.options)
            if (options.given(option.name) && belongs_to_trainings(option) &&
                !OwnOptions::is_own(option.name))
                forced.push_back(
                    {option.name, values_of("--" + option.name, options.text(option.name))});
    for (std::size_t s = 0; s < lines.sections.size(); ++s) {
        if (s == 0 && lines.sections.size() > 1) continue;
        SweepVariant variant{s == 0 ? "all" : lines.sections[s].name, {}};
        for (const auto* settings :
             {&lines.sections.front().settings, &lines.sections[s].settings, &forced})
            for (const SweepSetting& setting : *settings)
                if (!OwnOptions::is_own(setting.option)) set(variant.settings, setting);
        config.variants.push_back(std::move(variant));
    }
    for (const std::string& name : config.choose)
        if (const Option* option = find_option(of_train, name);
            option == nullptr || !belongs_to_trainings(*option) || OwnOptions::is_own(name))
            throw ConfigError(fmt::format(
                "choose: '{}' is no option of the trainings (example: step-size)", name));
    return config;
}

}  // namespace sotto::cli
