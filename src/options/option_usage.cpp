#include "options/option_usage.hpp"

namespace sotto {

std::string usage_of(const WrittenOption& option) {
    switch (option.kind) {
        case OptionKind::flag:
            return "--" + option.name;
        case OptionKind::output:
            return "--" + option.name + " [FILE]";
        case OptionKind::list:
            return "--" + option.name + " \"VALUE ...\"";
        case OptionKind::value:
            break;
    }
    return "--" + option.name + " VALUE";
}

std::string values_beside_help(const WrittenOption& option) {
    const std::string& allowed = option.allowed.text;
    return option.help.find(allowed) == std::string::npos ? allowed : std::string();
}

std::string default_of(const WrittenOption& option) {
    if (!option.standing.empty()) return option.standing;
    return option.kind == OptionKind::flag ? std::string() : option.text.value_or("");
}

}  // namespace sotto
