#include "sotto/learn/label_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr std::size_t most_shown = 12, shown_at_begin = 8, shown_at_end = 2;

/// Above it not every whole number is a double.
constexpr double largest_label = 0x1p53;

/// The texts of all, or of the first and last of many.
std::vector<std::string> shown_of(const LabelSet& labels,
                                  std::string (*text)(const LabelSet&, std::size_t)) {
    std::vector<std::string> shown;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels.size() > most_shown && i == shown_at_begin) {
            shown.push_back(fmt::format("{} more", labels.size() - shown_at_begin - shown_at_end));
            i = labels.size() - shown_at_end;
        }
        shown.push_back(text(labels, i));
    }
    return shown;
}

}  // namespace

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

std::string classes_text(const LabelSet& labels) {
    return fmt::format("{}",
                       fmt::join(shown_of(labels,
                                          [](const LabelSet& all, std::size_t i) {
                                              return fmt::format(
                                                  all.size() == 2 ? "{} -> {:+}" : "{} -> {}",
                                                  all[i],
                                                  class_at(i, all.size()));
                                          }),
                                 ", "));
}

std::string labels_text(const LabelSet& labels) {
    if (labels.empty()) return "none";
    return fmt::format("{}",
                       fmt::join(shown_of(labels,
                                          [](const LabelSet& all, std::size_t i) {
                                              return fmt::format("{}", all[i]);
                                          }),
                                 ", "));
}

}  // namespace sotto
