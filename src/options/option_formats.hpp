#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/config.hpp"
#include "options/option.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

/// How to read and write values of one type.
template <class Value>
struct OptionFormat {
    AllowedValues allowed;
    /// @throws ConfigError naming option, text and what is allowed.
    std::function<Value(const std::string& option, const std::string& text)> read;
    std::function<std::string(const Value&)> write;
    OptionKind kind = OptionKind::value;
};

/// The shortest text that reads back as the same double: 1e-5, 0.05, 1e4, 300.
[[nodiscard]] std::string real_text(double value);

/// @throws ConfigError unless 0 < value < 1; NaN is refused.
void require_inside_unit_interval(const std::string& option, double value);

[[nodiscard]] OptionFormat<double> any_real();  ///< finite
[[nodiscard]] OptionFormat<double> positive_real();
/// Above 0; kB, MB, GB and TB after the number are powers of 1000.
[[nodiscard]] OptionFormat<double> byte_count();
[[nodiscard]] OptionFormat<double> real_between(double minimum, double maximum);
[[nodiscard]] OptionFormat<double> real_inside_unit_interval();  ///< without its ends
[[nodiscard]] OptionFormat<long long> whole(
    long long minimum, long long maximum = std::numeric_limits<long long>::max());
/// A whole number of at least `minimum`; nothing for one of the words.
/// @throws ConfigError naming option, text and what is allowed.
[[nodiscard]] std::optional<long> number_or_word(const std::string& option,
                                                 const std::string& text,
                                                 std::vector<std::string> words,
                                                 long long minimum = 1);
[[nodiscard]] OptionFormat<std::string> any_text(AllowedValues allowed = {});
/// The same for the path of a file or folder, as the option's help describes.
[[nodiscard]] OptionFormat<std::string> file_path();
[[nodiscard]] OptionFormat<std::string> folder_path();
/// Text that is not empty: for an option with a default, empty text has no meaning.
[[nodiscard]] OptionFormat<std::string> some_text(AllowedValues allowed = {});
[[nodiscard]] OptionFormat<bool> flag();
[[nodiscard]] OptionFormat<bool> on_off();
/// Words separated by blanks; words with blanks are in double quotes.
/// @throws ConfigError for an empty list and for repeated words.
[[nodiscard]] OptionFormat<std::vector<std::string>> word_list();
/// The same, but words may be repeated.
[[nodiscard]] OptionFormat<std::vector<std::string>> path_list();
[[nodiscard]] OptionFormat<std::vector<std::string>> folder_list();

/// Words of a table.
template <class Value, std::size_t N>
[[nodiscard]] OptionFormat<Value> words(const NameTable<Value, N>& table) {
    return {one_of(table.names()),
            [table](const std::string& option, const std::string& text) {
                return table.parse(option, text);
            },
            [table](const Value& value) { return table.name_of(value); }};
}

/// Values of a type with a parse function and name_of to write them.
/// @param allowed of the format.  @param parse (option, text) to value.
template <class Parse>
[[nodiscard]] auto named(AllowedValues allowed, Parse parse) {
    using Value = std::invoke_result_t<Parse, std::string_view, std::string_view>;
    return OptionFormat<Value>{
        std::move(allowed),
        [parse](const std::string& option, const std::string& text) { return parse(option, text); },
        [](const Value& value) { return name_of(value); }};
}

/// "a,b,...", sorted, without a check against a graph.
/// @throws ConfigError naming the option for an invalid number or a repeated agent.
[[nodiscard]] std::vector<int> parse_agent_numbers(const std::string& option,
                                                   const std::string& text);
[[nodiscard]] std::string agent_numbers_text(const std::vector<int>& agents);
/// Format of agent numbers; an empty list is written as no text.
[[nodiscard]] OptionFormat<std::vector<int>> agent_numbers();

/// Agents whose views are recorded, and whether all messages on the wire are recorded.
struct RecordedNames {
    std::vector<int> agents;  ///< ascending
    bool wire = false;
};
/// The same, but the word `eavesdropper` is also allowed. @throws ConfigError.
[[nodiscard]] RecordedNames parse_recorded_names(const std::string& option,
                                                 const std::string& text);
/// Empty if nothing is recorded.
[[nodiscard]] std::string recorded_names_text(const RecordedNames& recorded);

/// "LATENCY:BANDWIDTH[:HOSTS[:RANKS]]": "10ms:100Mbit", "50us:25Gbit:100:10000". The latency is a
/// number of at least 0 in s, ms or us; the bandwidth is a number above 0 in bit, kbit, Mbit or
/// Gbit (per second; powers of 1000).
/// @throws ConfigError naming the option, the part and what is allowed.
[[nodiscard]] NetworkSpec parse_network(std::string_view option, std::string_view text);
/// Text that parse_network converts to the same network.
[[nodiscard]] std::string name_of(const NetworkSpec& spec);

}  // namespace sotto
