#include "learn/label_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr std::ptrdiff_t most_shown = 12, shown_at_begin = 8, shown_at_end = 2;

/// Above it not every whole number is a double.
constexpr double largest_label = 0x1p53;

}  // namespace

std::string short_list(std::vector<std::string> words) {
    if (std::ssize(words) > most_shown) {
        const std::string more =
            fmt::format("{} more", std::ssize(words) - shown_at_begin - shown_at_end);
        words.erase(words.begin() + shown_at_begin, words.end() - shown_at_end);
        words.insert(words.begin() + shown_at_begin, more);
    }
    return fmt::format("{}", fmt::join(words, ", "));
}

LabelSet labels_of(const Dataset& data) {
    if (data.target == Target::value) return {};
    for (Eigen::Index row = 0; row < data.records(); ++row) {
        const double label = data.labels[row];
        if (!(std::abs(label) <= largest_label && label == std::floor(label)))
            throw DataError(fmt::format(
                "{}: record {} has label {}; classes are whole numbers (a value to predict is the "
                "last column of a CSV file)",
                data.source,
                row + 1,
                label));
    }
    LabelSet labels(data.labels.begin(), data.labels.end());
    std::ranges::sort(labels);
    const auto repeated = std::ranges::unique(labels);
    labels.erase(repeated.begin(), repeated.end());
    return labels;
}

LabelSet united(const LabelSet& a, const LabelSet& b) {
    LabelSet both;
    std::ranges::set_union(a, b, std::back_inserter(both));
    return both;
}

double class_at(std::size_t place, std::size_t labels) {
    if (labels == 2) return place == 0 ? -1 : 1;
    return static_cast<double>(place);
}

Dataset with_classes(Dataset data, const LabelSet& labels) {
    if (data.target == Target::value) return data;
    for (Eigen::Index row = 0; row < data.records(); ++row) {
        double& label = data.labels[row];
        const auto found = std::ranges::lower_bound(labels, label);
        if (found == labels.end() || *found != label)
            throw DataError(
                fmt::format("{}: record {} has label {}, which no training data have (allowed: {})",
                            data.source,
                            row + 1,
                            label,
                            labels_text(labels)));
        label = class_at(static_cast<std::size_t>(found - labels.begin()), labels.size());
    }
    return data;
}

std::string classes_text(const std::vector<std::string>& names) {
    const bool two = names.size() == 2;
    std::vector<std::string> words;
    for (std::size_t i = 0; i < names.size(); ++i)
        words.push_back(fmt::format(
            "{} -> {}{}", names[i], two && i == 1 ? "+" : "", class_at(i, names.size())));
    return short_list(std::move(words));
}

std::string labels_text(const LabelSet& labels) {
    std::vector<std::string> words;
    for (const double label : labels) words.push_back(fmt::format("{}", label));
    return words.empty() ? "none" : short_list(std::move(words));
}

}  // namespace sotto
