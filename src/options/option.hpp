#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/core/names.hpp"

namespace sotto {

/// Numbers from minimum to maximum; NaN is none of them.
struct NumberRange {
    double minimum = -std::numeric_limits<double>::infinity();
    double maximum = std::numeric_limits<double>::infinity();
    bool ends = true;    ///< minimum and maximum belong to it
    bool whole = false;  ///< whole numbers only
};

/// Which values an option takes: in words for people, and word by word for shells.
struct AllowedValues {
    std::string text{};  ///< in words; empty: any text, or the option's help says it
    /// Values as they are ("final", "cyclic-poisson:auto"), beginnings with what stands for the
    /// rest ("horizon:H", "coalition:a,b"), and paths ("FILE", "FILE.so", "DIR").
    std::vector<std::string> words{};
    std::optional<NumberRange> range{};  ///< of the numbers among them; none: it is not known

    AllowedValues() = default;
    AllowedValues(std::string in_words)  // NOLINT(google-explicit-constructor)
        : text(std::move(in_words)) {}
    AllowedValues(const char* in_words)  // NOLINT(google-explicit-constructor)
        : text(in_words) {}
    AllowedValues(std::string in_words, std::vector<std::string> single)
        : text(std::move(in_words)), words(std::move(single)) {}
};

/// One of these words, which the text lists.
[[nodiscard]] inline AllowedValues one_of(std::vector<std::string> words) {
    std::string text = join(words, ", ");
    return {std::move(text), std::move(words)};
}
/// The same values, of which those that are numbers lie in this range.
[[nodiscard]] inline AllowedValues numbers_in(NumberRange range, AllowedValues allowed) {
    allowed.range = range;
    return allowed;
}
/// Words among what the text, or the option's help, says.
[[nodiscard]] inline AllowedValues among_others(std::string text, std::vector<std::string> words) {
    return {std::move(text), std::move(words)};
}

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
    bool common = false;  ///< --help shows it; the others are shown by --help all
    std::vector<std::string> other_names{};  ///< of other programs, for "did you mean"
    std::string help{};                      ///< for --help; {} stands for allowed values
    std::string details{};                   ///< more, for the option's page (docs/cli); Markdown
    /// What stands where the option is not given, for --help and pages, where a configuration says
    /// it in another way or leaves it open; empty: what the configuration says.
    std::string standing{};
    bool positional = false;        ///< a word without an option's name before it is its value
    bool reproduces_run = true;     ///< belongs into a run's config.ini
    bool ranks_must_agree = false;  ///< all ranks of a training have the same value, or none
    /// May stand beside the directory of a run (--resume, --run), which says all the rest.
    bool beside_run = false;
    /// Whether config.ini of rank 0 may set it on other ranks that resume a run: never what
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
