#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "options/allowed_values.hpp"
#include "sotto/core/registry.hpp"

namespace sotto {

/// How an option stands on a command line.
enum class OptionKind {
    value,
    flag,    ///< no value; "true" or "false" as text
    output,  ///< the value may be left out: then "-", standard output
    list     ///< several values, separated by blanks
};

/// What there is to say about an option, whatever configuration it belongs to.
struct OptionFacts {
    std::string name{};
    std::string help{};     ///< for --help; {} stands for the values that are allowed
    std::string details{};  ///< more, for the option's page (docs/cli); Markdown
    /// What stands where the option is not given, for --help and pages, where a configuration says
    /// it in another way or leaves it open; empty: what the configuration says.
    std::string standing{};
    bool positional = false;        ///< a word without an option's name before it is its value
    bool reproduces_run = true;     ///< belongs into a run's config.ini
    bool ranks_must_agree = false;  ///< all ranks of a training have the same value, or none
    /// May stand beside the directory of a run (--resume, --run), which says all the rest.
    bool beside_run = false;
    /// Whether config.ini of rank 0 may set it on other ranks that take up a run: never what
    /// concerns an agent's own protection, its own data, or programs it executes.
    bool peers_may_set = true;
    bool shapes_sums = false;  ///< what secure sums hide depends on it: with them no peer sets it
    bool changes_results = true;  ///< false: says how the job runs and reports only
    /// What is learnt, or from which records: says nothing to a program that brings its own.
    bool describes_data = false;
};

/// Where an option lives in a configuration, and how its value is written there.
template <class Config>
struct Binding {
    OptionKind kind = OptionKind::value;
    AllowedValues allowed{};
    /// @param option what to call it in messages: "--epsilon".  @throws ConfigError naming the
    /// option, the text and what is allowed.
    std::function<void(Config&, const std::string& option, const std::string& text)> read{};
    /// Text that `read` turns into the same value; nothing where the configuration has none.
    std::function<std::optional<std::string>(const Config&)> write{};
};

/// One option: all that is known about it, in one declaration.
template <class Config>
struct Option : OptionFacts {
    Binding<Config> value{};
};

/// The option of a part of a configuration, as one of the whole.
/// @param part pointer to the member, or `[](auto& c) -> auto& { return c.train.graph; }`.
template <class Config, class Part, class Access>
[[nodiscard]] Option<Config> lifted(const Option<Part>& option, Access part) {
    return {option,
            {option.value.kind,
             option.value.allowed,
             [read = option.value.read, part](
                 Config& config, const std::string& name, const std::string& text) {
                 read(std::invoke(part, config), name, text);
             },
             [write = option.value.write, part](const Config& config) {
                 return write(std::invoke(part, config));
             }}};
}
template <class Config, class Part, class Access>
[[nodiscard]] std::vector<Option<Config>> lifted(const std::vector<Option<Part>>& options,
                                                 Access part) {
    std::vector<Option<Config>> result;
    for (const Option<Part>& option : options) result.push_back(lifted<Config>(option, part));
    return result;
}

/// Options that are shown together. A file of its own may add to a group (Registered).
template <class Config>
struct OptionGroup {
    std::string title;
    Registry<Option<Config>> options;
};

/// @param parts of the group, in the order in which they are shown.
template <class Config>
[[nodiscard]] OptionGroup<Config> option_group(
    std::string title, const std::vector<std::vector<Option<Config>>>& parts) {
    OptionGroup<Config> group{std::move(title), {"option", {}}};
    for (const auto& part : parts)
        for (const Option<Config>& option : part) group.options.add(option);
    return group;
}

}  // namespace sotto
