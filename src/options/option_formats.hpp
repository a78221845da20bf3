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

/// How values of one type are read and written.
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

/// @throws ConfigError unless 0 < value < 1; a NaN fails.
void require_inside_unit_interval(const std::string& option, double value);

[[nodiscard]] OptionFormat<double> any_real();  ///< finite
[[nodiscard]] OptionFormat<double> positive_real();
[[nodiscard]] OptionFormat<double> real_between(double minimum, double maximum);
[[nodiscard]] OptionFormat<double> real_inside_unit_interval();  ///< without its ends
[[nodiscard]] OptionFormat<long long> whole(
    long long minimum, long long maximum = std::numeric_limits<long long>::max());
/// A whole number, at least 1; nothing for one of the words.
/// @throws ConfigError naming option, text and what is allowed.
[[nodiscard]] std::optional<long> number_or_word(const std::string& option,
                                                 const std::string& text,
                                                 std::vector<std::string> words);
[[nodiscard]] OptionFormat<std::string> any_text(AllowedValues allowed = {});
/// The same, of a file or a folder; the option's help says so.
[[nodiscard]] OptionFormat<std::string> file_path();
[[nodiscard]] OptionFormat<std::string> folder_path();
/// Any but none at all: where the option has a default, nothing would mean that.
[[nodiscard]] OptionFormat<std::string> some_text(AllowedValues allowed = {});
[[nodiscard]] OptionFormat<bool> flag();
[[nodiscard]] OptionFormat<bool> on_off();
/// Words separated by blanks; one that holds blanks stands in double quotes.
/// @throws ConfigError for none, and for one that is there twice.
[[nodiscard]] OptionFormat<std::vector<std::string>> word_list();
/// The same; one may be there twice.
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

/// Values of a type that has a function to read them and one, name_of, to write them.
/// @param allowed of the format.  @param parse (option, text) to value.
template <class Parse>
[[nodiscard]] auto named(AllowedValues allowed, Parse parse) {
    using Value = std::invoke_result_t<Parse, std::string_view, std::string_view>;
    return OptionFormat<Value>{
        std::move(allowed),
        [parse](const std::string& option, const std::string& text) { return parse(option, text); },
        [](const Value& value) { return name_of(value); }};
}

/// "a,b,...", before a graph says which agents there are; ascending.
/// @throws ConfigError naming the option for what is no number, and for an agent named twice.
[[nodiscard]] std::vector<int> parse_agent_numbers(const std::string& option,
                                                   const std::string& text);
[[nodiscard]] std::string agent_numbers_text(const std::vector<int>& agents);
/// Of an option that takes them; none are no text.
[[nodiscard]] OptionFormat<std::vector<int>> agent_numbers();

/// Agents whose views are recorded, and whether what all of them send is.
struct RecordedNames {
    std::vector<int> agents;  ///< ascending
    bool wire = false;
};
/// The same with the word `eavesdropper`, alone or among the numbers. @throws ConfigError.
[[nodiscard]] RecordedNames parse_recorded_names(const std::string& option,
                                                 const std::string& text);
/// Empty where nothing is recorded.
[[nodiscard]] std::string recorded_names_text(const RecordedNames& recorded);

/// "LATENCY:BANDWIDTH[:HOSTS[:RANKS]]": "10ms:100Mbit", "50us:25Gbit:100:10000". A latency is a
/// number, at least 0, and s, ms or us; a bandwidth is a number above 0 and bit, kbit, Mbit or Gbit
/// (a second; powers of 1000).
/// @throws ConfigError naming the option, the part and what is allowed.
[[nodiscard]] NetworkSpec parse_network(std::string_view option, std::string_view text);
/// Text that parse_network turns into the same network.
[[nodiscard]] std::string name_of(const NetworkSpec& spec);

}  // namespace sotto
