#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/core/names.hpp"

namespace sotto {

/// Numbers from minimum to maximum, without NaN.
struct NumberRange {
    double minimum = -std::numeric_limits<double>::infinity();
    double maximum = std::numeric_limits<double>::infinity();
    bool ends = true;    ///< minimum and maximum are allowed
    bool whole = false;  ///< whole numbers only
};

/// The allowed values of an option: in words for users, and as a list for shell completion.
struct AllowedValues {
    std::string text{};  ///< in words; empty: any text, or see the option's help
    /// Complete values ("final", "cyclic-poisson:auto"), prefixes with a placeholder ("horizon:H",
    /// "coalition:a,b"), and paths ("FILE", "FILE.so", "DIR").
    std::vector<std::string> words{};
    std::optional<NumberRange> range{};  ///< of the numbers among them; none: unknown

    AllowedValues() = default;
    AllowedValues(std::string in_words)  // NOLINT(google-explicit-constructor)
        : text(std::move(in_words)) {}
    AllowedValues(const char* in_words)  // NOLINT(google-explicit-constructor)
        : text(in_words) {}
    AllowedValues(std::string in_words, std::vector<std::string> single)
        : text(std::move(in_words)), words(std::move(single)) {}
};

/// One of these words; the text lists them.
[[nodiscard]] inline AllowedValues one_of(std::vector<std::string> words) {
    std::string text = join(words, ", ");
    return {std::move(text), std::move(words)};
}
/// The same values, with numbers restricted to this range.
[[nodiscard]] inline AllowedValues numbers_in(NumberRange range, AllowedValues allowed) {
    allowed.range = range;
    return allowed;
}
/// These words, besides other values that the text or the option's help describes.
[[nodiscard]] inline AllowedValues among_others(std::string text, std::vector<std::string> words) {
    return {std::move(text), std::move(words)};
}

/// Syntax of an option on the command line.
enum class OptionKind {
    value,
    flag,    ///< no value; "true" or "false" as text
    output,  ///< the value may be omitted and is then "-", standard output
    list     ///< several values, separated by blanks
};

/// Properties of an option that do not depend on its configuration.
struct OptionFacts {
    std::string name{};
    bool common = false;                     ///< shown by --help; the others only by --help all
    std::vector<std::string> other_names{};  ///< in other programs, for "did you mean"
    std::string help{};                      ///< for --help; {} is replaced by the allowed values
    std::string details{};                   ///< more, for the option's page (docs/cli); Markdown
    /// Default value in --help and pages, if the configuration leaves it open or writes it in
    /// another form; empty: the configuration's value.
    std::string standing{};
    bool positional = false;        ///< a word without an option name before it is its value
    bool reproduces_run = true;     ///< is written to a run's config.ini
    bool ranks_must_agree = false;  ///< all ranks of a training need the same value, or none
    /// May be used together with a run directory (--resume, --run), which sets all other options.
    bool beside_run = false;
    /// Whether rank 0's config.ini may set it on other ranks that resume a run: never for what
    /// concerns an agent's own protection, its own data, or programs it executes.
    bool peers_may_set = true;
    bool shapes_sums = false;     ///< affects what secure sums hide, so no peer sets it with them
    bool changes_results = true;  ///< false: affects only how the job runs and reports
    /// Describes what is learned or from which records; unused by programs with their own task.
    bool describes_data = false;
};

/// Where an option is stored in a configuration, and how its value is written.
template <class Config>
struct Binding {
    OptionKind kind = OptionKind::value;
    AllowedValues allowed{};
    /// @param option its name for messages: "--epsilon".  @throws ConfigError naming the option,
    /// the text and what is allowed.
    std::function<void(Config&, const std::string& option, const std::string& text)> read{};
    /// Text that `read` converts to the same value; nothing if the configuration has none.
    std::function<std::optional<std::string>(const Config&)> write{};
};

/// The complete declaration of one option.
template <class Config>
struct Option : OptionFacts {
    Binding<Config> value{};
};

/// Converts an option of a part of a configuration to one of the whole configuration.
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

/// Options that are shown together. Other source files may add to a group (Registered).
template <class Config>
struct OptionGroup {
    std::string title;
    Registry<Option<Config>> options;
};

/// @param parts of the group, in display order.
template <class Config>
[[nodiscard]] OptionGroup<Config> option_group(
    std::string title, const std::vector<std::vector<Option<Config>>>& parts) {
    OptionGroup<Config> group{std::move(title), {"option", {}}};
    for (const auto& part : parts)
        for (const Option<Config>& option : part) group.options.add(option);
    return group;
}

}  // namespace sotto
