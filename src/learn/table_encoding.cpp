#include "learn/table_encoding.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

namespace {

/// Where the shape's columns stand in a table, by name or, without names, by number.
std::size_t place_of(const Table& table, const std::string& column, const std::string& whose) {
    if (const auto found = find_column(table, column)) return *found;
    throw DataError(
        fmt::format("{}: has no column \"{}\", which {} has", table.source, column, whose));
}

/// Where each category of a column stands among those of the training data.
class CategoryPlaces {
  public:
    CategoryPlaces(const Table& table,
                   const std::string& column,
                   const std::vector<std::string>& categories)
        : table_(table), column_(column), categories_(categories) {
        for (const std::string& category : categories)
            places_.try_emplace(category, static_cast<Eigen::Index>(places_.size()));
    }
    [[nodiscard]] Eigen::Index of(const TableColumn& column, std::size_t row) const {
        const std::string text = column.category(row);
        const auto found = places_.find(text);
        if (found == places_.end())
            fail_cell(table_,
                      column_,
                      row,
                      fmt::format("is \"{}\", which no training data have (allowed: {})",
                                  text.substr(0, shown_characters),
                                  fmt::join(categories_, ", ")));
        return found->second;
    }

  private:
    const Table& table_;
    const std::string& column_;
    const std::vector<std::string>& categories_;
    std::unordered_map<std::string, Eigen::Index> places_;
};

Eigen::Index width_of(const ColumnShape& feature, const MissingPolicy& missing) {
    const Eigen::Index indicator = missing.kind == MissingPolicy::Kind::indicator ? 1 : 0;
    return feature.kind == ColumnShape::Kind::categories
               ? std::ssize(feature.categories) + indicator
               : 1 + indicator;
}

/// The cells of one feature, from column `first` of `out` on.
void encode_feature(const Table& table,
                    const ColumnShape& feature,
                    const MissingPolicy& missing,
                    Eigen::Index first,
                    RealRows& out) {
    const TableColumn& column = table.columns[place_of(table, feature.name, "the training data")];
    const Eigen::Index last = first + width_of(feature, missing) - 1;
    const bool categories = feature.kind == ColumnShape::Kind::categories;
    const CategoryPlaces places(table, feature.name, feature.categories);
    for (std::size_t row = 0; row < column.numbers.size(); ++row) {
        const auto record = static_cast<Eigen::Index>(row);
        if (column.is_missing(row)) {
            if (missing.kind == MissingPolicy::Kind::refuse)
                fail_cell(table,
                          feature.name,
                          row,
                          "is missing (allowed: --missing indicator, which tells the model so, or "
                          "--missing value:V, which puts V in its place)");
            if (missing.kind == MissingPolicy::Kind::indicator) out(record, last) = 1;
            if (!categories)
                out(record, first) =
                    missing.kind == MissingPolicy::Kind::value ? missing.value : not_a_number;
        } else if (categories) {
            out(record, first + places.of(column, row)) = 1;
        } else if (column.is_text(row)) {
            fail_cell(table,
                      feature.name,
                      row,
                      fmt::format("is \"{}\", and the training data have numbers there",
                                  column.category(row).substr(0, shown_characters)));
        } else {
            out(record, first) = column.numbers[row];
        }
    }
}

/// Of whom the records are: equal numbers where the cells are equal.
std::vector<int> units_in(const Table& table, const TableShape& shape) {
    const std::size_t place = place_of(table, shape.unit, "the training data");
    const TableColumn& column = table.columns[place];
    std::map<std::string, int> known;
    std::vector<int> units;
    for (std::size_t row = 0; row < column.numbers.size(); ++row)
        units.push_back(
            known.try_emplace(column.category(row), static_cast<int>(known.size())).first->second);
    return units;
}

Eigen::VectorXd labels_in(const Table& table, const TableShape& shape) {
    const std::size_t place = place_of(table, shape.label, "the training data");
    require_no_missing(table, place, "is to be predicted");
    const TableColumn& column = table.columns[place];
    const CategoryPlaces classes(table, shape.label, shape.label_names);
    const auto label_of = [&](std::size_t row) -> double {
        if (shape.threshold) return column.numbers[row] > *shape.threshold ? 1 : 0;
        if (shape.label_names.empty()) return column.numbers[row];
        return static_cast<double>(classes.of(column, row));
    };
    Eigen::VectorXd labels(table.records());
    for (std::size_t row = 0; row < column.numbers.size(); ++row) {
        if (column.is_text(row) && (shape.threshold || shape.label_names.empty()))
            fail_cell(table,
                      shape.label,
                      row,
                      fmt::format("is \"{}\", and the training data have numbers there",
                                  column.category(row).substr(0, shown_characters)));
        labels(static_cast<Eigen::Index>(row)) = label_of(row);
    }
    return labels;
}

}  // namespace

FeatureNames feature_names(const TableShape& shape, const MissingPolicy& missing) {
    FeatureNames features;
    const auto add = [&](std::string name, bool number) {
        features.names.push_back(std::move(name));
        features.numbers.push_back(number);
    };
    for (const ColumnShape& feature : shape.features) {
        const bool categories = feature.kind == ColumnShape::Kind::categories;
        if (!categories) add(feature.name, true);
        for (const std::string& category : feature.categories)
            add(fmt::format("{} = {}", feature.name, category), false);
        if (missing.kind == MissingPolicy::Kind::indicator)
            add(fmt::format("{} is missing", feature.name), false);
    }
    return features;
}

Dataset encoded(const Table& table,
                const TableShape& shape,
                const MissingPolicy& missing,
                bool with_label) {
    Eigen::Index width = 0;
    for (const ColumnShape& feature : shape.features) width += width_of(feature, missing);
    RealRows rows = RealRows::Zero(table.records(), width);
    Eigen::Index first = 0;
    for (const ColumnShape& feature : shape.features) {
        encode_feature(table, feature, missing, first, rows);
        first += width_of(feature, missing);
    }
    Dataset data;
    data.source = table.source;
    data.target = shape.target;
    data.dense = std::move(rows);
    if (with_label && !shape.unit.empty()) data.writers = units_in(table, shape);
    if (with_label)
        data.labels = labels_in(table, shape);
    else
        data.labels.setZero(table.records());
    return data;
}

Dataset all_columns(const Table& table) {
    RealRows rows(table.records(), std::ssize(table.columns));
    for (std::size_t k = 0; k < table.columns.size(); ++k)
        for (std::size_t row = 0; row < table.columns[k].numbers.size(); ++row) {
            const double number = table.columns[k].numbers[row];
            if (std::isnan(number))
                fail_cell(table, column_name(table, k), row, "is no number (needed: numbers)");
            rows(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(k)) = number;
        }
    Dataset points;
    points.source = table.source;
    points.target = Target::value;
    points.labels = rows.rightCols(1);
    points.dense = std::move(rows);
    return points;
}

Standardisation scaling_by_bounds(const TableShape& shape, const TableOptions& options) {
    std::vector<std::string> scaled;
    for (const ColumnShape& feature : shape.features)
        if (feature.kind != ColumnShape::Kind::categories) scaled.push_back(feature.name);
    if (shape.target == Target::value) scaled.push_back(shape.label);
    for (const ColumnBounds& bounds : options.bounds)
        if (std::ranges::find(scaled, bounds.column) == scaled.end())
            throw unknown_name_error("bounds", bounds.column, scaled);
    const auto bounds_of = [&](const std::string& column) {
        const auto found = std::ranges::find(options.bounds, column, &ColumnBounds::column);
        if (found == options.bounds.end())
            throw ConfigError(fmt::format(
                "bounds: column \"{}\" has none (needed: NAME=LOW:HIGH of every column of numbers "
                "where bounds are given: {})",
                column,
                fmt::join(scaled, ", ")));
        return std::pair{found->low / 2 + found->high / 2, found->high / 2 - found->low / 2};
    };
    const FeatureNames features = feature_names(shape, options.missing);
    Standardisation scaling;
    scaling.limit = 1;
    scaling.feature_mean.setZero(std::ssize(features.names));
    scaling.feature_deviation.setOnes(std::ssize(features.names));
    for (std::size_t k = 0; k < features.names.size(); ++k)
        if (features.numbers[k])
            std::tie(scaling.feature_mean(static_cast<Eigen::Index>(k)),
                     scaling.feature_deviation(static_cast<Eigen::Index>(k))) =
                bounds_of(features.names[k]);
    if (shape.target == Target::value)
        std::tie(scaling.target_mean, scaling.target_deviation) = bounds_of(shape.label);
    return scaling;
}

}  // namespace sotto
