#include "shown_output.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "program.hpp"

namespace sotto::test {

namespace {

const std::regex& number() {
    static const std::regex known(R"([0-9]+(\.[0-9]+)?(e-?[0-9]+)?)");
    return known;
}

}  // namespace

std::vector<Shown> shown_in(const std::string& page) {
    std::vector<Shown> blocks;
    bool inside = false, shown = false;
    int number = 0;
    for (const std::string& line : lines_of(page)) {
        ++number;
        if (line.starts_with("```")) {
            inside = !inside;
            shown = false;
        } else if (inside && line.starts_with("$ ")) {
            blocks.push_back({line.substr(2), {}, number});
            shown = true;
        } else if (shown && blocks.back().lines.empty() && line.starts_with("> ")) {
            blocks.back().command += '\n' + line.substr(2);
        } else if (shown) {
            blocks.back().lines.push_back(line);
        }
    }
    return blocks;
}

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

bool same_line(const std::string& shown, const std::string& printed) {
    constexpr double tolerance = 1e-4, rounding = 1e-14;
    const auto left = words_of(shown), right = words_of(printed);
    if (left.size() != right.size()) return false;
    for (std::size_t i = 0; i < left.size(); ++i) {
        if (left[i] == right[i]) continue;
        if (i + 2 == left.size() && left.back() == "s") continue;
        char *left_end = nullptr, *right_end = nullptr;
        const double a = std::strtod(left[i].c_str(), &left_end);
        const double b = std::strtod(right[i].c_str(), &right_end);
        if (left_end == left[i].c_str() || std::string(left_end) != right_end ||
            !(std::abs(a - b) <= tolerance * std::abs(a) + rounding))
            return false;
    }
    return true;
}

std::vector<double> numbers_of(const std::string& line) {
    std::vector<double> numbers;
    for (auto found = std::sregex_iterator(line.begin(), line.end(), number());
         found != std::sregex_iterator();
         ++found)
        numbers.push_back(std::stod(found->str()));
    return numbers;
}

bool has_same_words(const std::string& shown, const std::string& printed) {
    static const std::regex blanks(" +");
    const auto words = [](const std::string& line) {
        return std::regex_replace(std::regex_replace(line, number(), "#"), blanks, " ");
    };
    return words(shown) == words(printed);
}

std::vector<std::string> not_printed(const Shown& shown, const std::string& output) {
    const auto printed = lines_of(output);
    std::vector<std::string> missing;
    for (const std::string& line : shown.lines)
        if (!line.empty() && !line.starts_with("...") &&
            std::ranges::none_of(printed,
                                 [&](const std::string& other) { return same_line(line, other); }))
            missing.push_back(line);
    return missing;
}

}  // namespace sotto::test
