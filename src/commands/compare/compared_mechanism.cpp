#include "commands/compare/compared_mechanism.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "options/train_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/mechanism.hpp"

namespace sotto {

namespace {

void add_own_option(ComparedMechanism& mechanism,
                    const std::string& option,
                    std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string name(text.substr(0, equals));
    const OptionSet<TrainConfig> set = train_option_set();
    if (equals == std::string_view::npos || set.look_up(name) == nullptr)
        throw ConfigError(fmt::format(
            "{}: '{}' of '{}' is no option of a training (allowed: OPTION=VALUE, such as "
            "coalition-size=2)",
            option,
            text,
            mechanism.label));
    mechanism.options[name] = text.substr(equals + 1);
}

ComparedMechanism compared_mechanism(const std::string& option, std::string_view word) {
    ComparedMechanism mechanism{std::string(word), {}};
    const auto parts = split(word, '+');
    const std::string name(parts.front());
    if (name.ends_with(".npy"))
        mechanism.options["covariance"] = name;
    else
        mechanism.options["mechanism"] = find_mechanism(option, name).name;
    for (std::size_t i = 1; i < parts.size(); ++i) add_own_option(mechanism, option, parts[i]);
    return mechanism;
}

}  // namespace

std::vector<ComparedMechanism> parse_compared_mechanisms(const std::string& option,
                                                         const std::string& text) {
    std::vector<ComparedMechanism> mechanisms;
    for (const auto word : split(text, ',')) {
        if (std::ranges::find(mechanisms, word, &ComparedMechanism::label) != mechanisms.end())
            throw ConfigError(fmt::format("{}: '{}' is there twice", option, word));
        mechanisms.push_back(compared_mechanism(option, word));
    }
    return mechanisms;
}

}  // namespace sotto
