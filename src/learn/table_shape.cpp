#include "learn/table_shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/numbers.hpp"
#include "core/text_input.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

MissingPolicy parse_missing(std::string_view text) {
    using PolicyKind = MissingPolicy::Kind;
    if (text == "refuse") return {};
    if (text == "indicator") return {PolicyKind::indicator};
    constexpr std::string_view value = "value:";
    if (text.starts_with(value))
        return {PolicyKind::value, parse_real("missing", text.substr(value.size()))};
    const std::vector<std::string> allowed{"refuse", "indicator", "value:V"};
    throw unknown_name_error("missing", text, allowed);
}

std::string name_of(const MissingPolicy& policy) {
    switch (policy.kind) {
        case MissingPolicy::Kind::refuse:
            return "refuse";
        case MissingPolicy::Kind::indicator:
            return "indicator";
        case MissingPolicy::Kind::value:
            break;
    }
    return fmt::format("value:{}", policy.value);
}

std::vector<ColumnBounds> parse_bounds(const std::string& text) {
    std::vector<std::string> entries;
    std::error_code none;
    if (std::filesystem::is_regular_file(text, none)) {
        LineReader reader(text);
        for (std::string_view line; reader.next(line);) {
            line = line.substr(0, line.find('#'));
            if (line.find_first_not_of(" \t\r") != line.npos) entries.emplace_back(line);
        }
    } else {
        for (const std::string_view entry : split(text, ',')) entries.emplace_back(entry);
    }
    const auto stripped = [](std::string_view part) {
        const std::size_t first = part.find_first_not_of(" \t\r");
        if (first == part.npos) return std::string();
        return std::string(part.substr(first, part.find_last_not_of(" \t\r") - first + 1));
    };
    std::vector<ColumnBounds> bounds;
    for (const std::string& entry : entries) {
        const std::size_t equal = entry.rfind('='), colon = entry.rfind(':');
        if (equal == entry.npos || colon == entry.npos || colon < equal)
            throw ConfigError(
                fmt::format("bounds: \"{}\" is not allowed (allowed: NAME=LOW:HIGH for every "
                            "column of numbers, separated by commas, or a file with one per line)",
                            entry.substr(0, 40)));
        const std::string_view numbers = std::string_view(entry).substr(equal + 1);
        const std::string name = stripped(std::string_view(entry).substr(0, equal));
        const std::string low = stripped(numbers.substr(0, colon - equal - 1)),
                          high = stripped(numbers.substr(colon - equal));
        bounds.push_back({name, parse_real("bounds", low), parse_real("bounds", high)});
        // Halves, so that half the width is above 0.
        if (!(bounds.back().low / 2 < bounds.back().high / 2))
            throw ConfigError(
                fmt::format("bounds: {}={}:{} is not allowed (the lower one must be "
                            "below the upper one)",
                            name,
                            low,
                            high));
        if (std::ranges::count(bounds, name, &ColumnBounds::column) > 1)
            throw ConfigError(fmt::format("bounds: column \"{}\" is given twice", name));
    }
    return bounds;
}

namespace {

/// This many different numbers count as classes, however few the records.
constexpr std::size_t handful_of_classes = 10;

std::vector<std::string> column_names(const Table& table) {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < table.columns.size(); ++k) names.push_back(column_name(table, k));
    return names;
}

[[noreturn]] void fail_unknown(const Table& table, const char* option, const std::string& name) {
    if (!table.named)
        throw ConfigError(
            fmt::format("{}: {} is not a column of {} (allowed: 1 to {}, since the file has no "
                        "header line with names)",
                        option,
                        name,
                        table.source,
                        table.columns.size()));
    throw unknown_name_error(fmt::format("{} ({})", option, table.source), name, table.names());
}

std::size_t column_of(const Table& table, const char* option, const std::string& name) {
    if (const auto found = find_column(table, name)) return *found;
    fail_unknown(table, option, name);
}

bool names_column(const Table& table,
                  const char* option,
                  const std::vector<std::string>& names,
                  std::size_t k) {
    return std::ranges::any_of(
        names, [&](const std::string& name) { return column_of(table, option, name) == k; });
}

/// The column to predict.
struct LabelColumn {
    std::size_t place = 0;
    std::optional<double> threshold;
};

LabelColumn label_column(const Table& table, const std::string& label) {
    if (label.empty()) {
        if (table.named)
            throw ConfigError(fmt::format(
                "label: say which column of {} to predict, as in --label \"{}\" (its columns: {})",
                table.source,
                table.columns.back().name,
                fmt::join(table.names(), ", ")));
        return {table.columns.size() - 1, std::nullopt};
    }
    if (const auto found = find_column(table, label)) return {*found, std::nullopt};
    const std::size_t above = label.rfind('>');
    if (above == std::string::npos) fail_unknown(table, "label", label);
    return {column_of(table, "label", label.substr(0, above)),
            parse_real("label", std::string_view(label).substr(above + 1))};
}

/// Numbers by value; other texts with the numbers in them by value.
void sort_naturally(std::vector<std::string>& texts) {
    const auto number = [](const std::string& text) -> std::optional<double> {
        try {
            return parse_real("", text);
        } catch (const ConfigError&) {
            return std::nullopt;
        }
    };
    if (std::ranges::all_of(texts, [&](const auto& text) { return number(text).has_value(); }))
        std::ranges::sort(texts, {}, [&](const std::string& text) { return *number(text); });
    else
        std::ranges::sort(texts, [](const std::string& a, const std::string& b) {
            const int order = strverscmp(a.c_str(), b.c_str());
            return order != 0 ? order < 0 : a < b;
        });
}

std::vector<std::string> united_texts(std::vector<std::string> a,
                                      const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    std::ranges::sort(a);
    const auto repeated = std::ranges::unique(a);
    a.erase(repeated.begin(), repeated.end());
    sort_naturally(a);
    return a;
}

bool is_date(std::string_view text) {
    std::string form;  // 9 for digits
    for (const char c : text.substr(0, 10)) form += c >= '0' && c <= '9' ? '9' : c;
    return form == "9999-99-99" || form == "9999/99/99" || form == "99/99/9999" ||
           form == "99.99.9999" || form == "9999.99.99" || form == "99-99-9999" ||
           ((form == "9/9/9999" || form == "99/9/9999" || form == "9/99/9999"));
}

void require_few(const std::string& column, const std::vector<std::string>& texts) {
    if (texts.size() <= most_categories) return;
    throw DataError(fmt::format(
        "column \"{}\" has more than {} different texts, such as \"{}\": it looks like a name or "
        "free text, from which nothing is learnt (leave it out by --ignore \"{}\")",
        column.substr(0, shown_characters),
        most_categories,
        texts.front().substr(0, shown_characters),
        column.substr(0, shown_characters)));
}

/// Texts of all present cells. @throws DataError for too many, or dates.
std::vector<std::string> categories_of(const TableColumn& column, const std::string& name) {
    std::vector<std::string> texts = column.texts;
    std::vector<double> numbers;
    for (std::size_t row = 0; row < column.numbers.size(); ++row)
        if (!column.is_missing(row) && !column.is_text(row)) numbers.push_back(column.numbers[row]);
    std::ranges::sort(numbers);
    const auto repeated = std::ranges::unique(numbers);
    numbers.erase(repeated.begin(), repeated.end());
    for (const double number : numbers) texts.push_back(fmt::format("{}", number + 0.0));
    require_few(name, texts);
    if (!texts.empty() && std::ranges::all_of(texts, is_date))
        throw DataError(
            fmt::format("column \"{}\" has dates, such as \"{}\": nothing is learnt from their "
                        "texts (put in their place a number, such as days since a day or an age, "
                        "or leave the column out by --ignore \"{}\")",
                        name.substr(0, shown_characters),
                        texts.front().substr(0, shown_characters),
                        name.substr(0, shown_characters)));
    return united_texts(std::move(texts), {});
}

/// @throws DataError for texts that hardly repeat, as those of persons: all agents hear which texts
/// there are.
void require_repeating(const TableColumn& column,
                       const std::string& name,
                       const std::vector<std::string>& texts) {
    constexpr std::size_t usual = 30, few_records = 5;
    std::size_t cells = 0;
    for (std::size_t row = 0; row < column.numbers.size(); ++row)
        cells += column.is_missing(row) ? 0 : 1;
    if (texts.size() <= usual || texts.size() * few_records <= cells) return;
    throw DataError(fmt::format(
        "column \"{}\" has {} different texts in {} records, such as \"{}\": it looks like a name "
        "of persons or things, and all agents would hear these texts (leave it out by --ignore "
        "\"{}\", or name it as a category by --categorical)",
        name.substr(0, shown_characters),
        texts.size(),
        cells,
        texts.front().substr(0, shown_characters),
        name.substr(0, shown_characters)));
}

/// Numbers, or texts in a column with almost no numbers.
ColumnShape::Kind kind_of(const Table& table, std::size_t k, bool categorical) {
    const TableColumn& column = table.columns[k];
    std::size_t numbers = 0, texts = 0, first_text = 0;
    for (std::size_t row = column.numbers.size(); row-- > 0;) {
        if (column.is_text(row)) {
            ++texts;
            first_text = row;
        } else if (!column.is_missing(row)) {
            ++numbers;
        }
    }
    if (numbers + texts == 0) return ColumnShape::Kind::unknown;
    if (categorical) return ColumnShape::Kind::categories;
    if (texts > 0 && numbers > 0)
        fail_cell(table,
                  column_name(table, k),
                  first_text,
                  fmt::format("is \"{}\", which is not a number, while {} other cells of it are "
                              "(allowed: numbers only, empty cells and NA for missing ones; "
                              "--categorical \"{}\" takes all as categories)",
                              column.category(first_text).substr(0, shown_characters),
                              numbers,
                              column_name(table, k).substr(0, shown_characters)));
    return texts > 0 ? ColumnShape::Kind::categories : ColumnShape::Kind::numbers;
}

bool is_whole(double number) { return std::abs(number) <= 0x1p53 && number == std::floor(number); }

/// Labels of a column of numbers, if they are classes.
std::optional<LabelSet> number_classes(const TableColumn& column, const TableOptions& options) {
    if (options.label.empty() && options.target != TargetKind::classes) return std::nullopt;
    if (options.target == TargetKind::value) return std::nullopt;
    LabelSet labels = column.numbers;
    std::ranges::sort(labels);
    const auto repeated = std::ranges::unique(labels);
    labels.erase(repeated.begin(), repeated.end());
    if (options.target == TargetKind::classes) {
        const auto fraction = std::ranges::find_if_not(labels, is_whole);
        if (fraction != labels.end())
            throw DataError(
                fmt::format("column \"{}\" has {}, which is not a class (needed: whole numbers or "
                            "texts; --categorical takes numbers as texts)",
                            column.name.substr(0, shown_characters),
                            *fraction));
        return labels;
    }
    // Classes repeat: each has ten records on average, or there are few.
    const std::size_t most = std::max(handful_of_classes, column.numbers.size() / 10);
    const bool few = labels.size() <= std::min(most, most_automatic_classes);
    return few && std::ranges::all_of(labels, is_whole) ? std::optional(labels) : std::nullopt;
}

void set_label(TableShape& shape, const Table& table, const TableOptions& options) {
    const LabelColumn label = label_column(table, options.label);
    const TableColumn& column = table.columns[label.place];
    shape.label = column_name(table, label.place);
    shape.threshold = label.threshold;
    require_no_missing(table, label.place, "is to be predicted");
    const bool categorical = names_column(table, "categorical", options.categorical, label.place);
    const bool texts = kind_of(table, label.place, categorical) == ColumnShape::Kind::categories;
    if (texts && label.threshold)
        throw ConfigError(fmt::format("label: {} needs a column of numbers, and \"{}\" has texts",
                                      options.label,
                                      shape.label.substr(0, shown_characters)));
    if (texts && options.target == TargetKind::value)
        throw ConfigError(fmt::format(
            "label-kind: value needs numbers, and column \"{}\" has texts (allowed: classes)",
            shape.label.substr(0, shown_characters)));
    shape.target = Target::label;
    if (label.threshold)
        shape.label_names = {fmt::format("{} <= {}", shape.label, *label.threshold),
                             fmt::format("{} > {}", shape.label, *label.threshold)};
    else if (texts)
        shape.label_names = categories_of(column, shape.label);
    else if (auto labels = number_classes(column, options))
        shape.labels = std::move(*labels);
    else
        shape.target = Target::value;
}

void set_unit(TableShape& shape, const Table& table, const TableOptions& options) {
    if (options.unit.empty() && options.unit_records > 0)
        throw ConfigError(fmt::format(
            "unit-records: {} is not possible without --unit-column, which says whose records are "
            "together",
            options.unit_records));
    if (options.unit.empty()) return;
    const std::size_t place = column_of(table, "unit-column", options.unit);
    shape.unit = column_name(table, place);
    if (shape.unit == shape.label)
        throw ConfigError(fmt::format("unit-column: \"{}\" is the column to predict", shape.unit));
    require_no_missing(table, place, "says of whom the record is");
}

}  // namespace

std::string column_name(const Table& table, std::size_t k) {
    return table.named ? table.columns[k].name : fmt::format("column {}", k + 1);
}

std::optional<std::size_t> find_column(const Table& table, const std::string& name) {
    for (std::size_t k = 0; k < table.columns.size(); ++k)
        if (table.named ? table.columns[k].name == name
                        : name == std::to_string(k + 1) || name == column_name(table, k))
            return k;
    return std::nullopt;
}

void fail_cell(const Table& table,
               const std::string& column,
               std::size_t record,
               const std::string& what) {
    throw DataError(fmt::format("{}, record {}: column \"{}\" {}",
                                table.source,
                                record + 1,
                                column.substr(0, shown_characters),
                                what));
}

void require_no_missing(const Table& table, std::size_t k, const char* use) {
    const TableColumn& column = table.columns[k];
    for (std::size_t row = 0; row < column.numbers.size(); ++row)
        if (column.is_missing(row))
            fail_cell(table,
                      column_name(table, k),
                      row,
                      fmt::format("{} and is missing (leave such records out)", use));
}

TableShape shape_of(const Table& table, const TableOptions& options) {
    TableShape shape;
    shape.columns = table.names();
    set_label(shape, table, options);
    set_unit(shape, table, options);
    for (std::size_t k = 0; k < table.columns.size(); ++k) {
        const std::string name = column_name(table, k);
        const bool ignored = names_column(table, "ignore", options.ignore, k);
        if (ignored && name == shape.label)
            throw ConfigError(fmt::format("ignore: \"{}\" is the column to predict", name));
        if (ignored || name == shape.label || name == shape.unit) continue;
        const bool categorical = names_column(table, "categorical", options.categorical, k);
        ColumnShape& feature = shape.features.emplace_back(name, kind_of(table, k, categorical));
        if (feature.kind != ColumnShape::Kind::categories) continue;
        feature.categories = categories_of(table.columns[k], name);
        if (!categorical) require_repeating(table.columns[k], name, feature.categories);
    }
    if (shape.features.empty())
        throw DataError(fmt::format("{}: no column is left to predict \"{}\" from (columns: {})",
                                    table.source,
                                    shape.label,
                                    fmt::join(column_names(table), ", ")));
    return shape;
}

TableShape united(TableShape a, const TableShape& b, const std::string& whose) {
    if (a.target != b.target || a.label_names.empty() != b.label_names.empty())
        throw DataError(fmt::format(
            "column \"{}\": of {} it is {}, of the others {} (say which by --label-kind classes or "
            "value; texts and numbers together are classes by --categorical \"{}\")",
            a.label,
            whose,
            b.target == Target::value ? "a number to predict" : "a class",
            a.target == Target::value ? "a number to predict" : "a class",
            a.label));
    a.label_names = united_texts(std::move(a.label_names), b.label_names);
    if (a.threshold) a.label_names = b.label_names;
    a.labels = united(a.labels, b.labels);
    if (a.features.size() != b.features.size())
        throw DataError(fmt::format(
            "{} has {} features, the others have {}", whose, b.features.size(), a.features.size()));
    for (std::size_t k = 0; k < a.features.size(); ++k) {
        ColumnShape& mine = a.features[k];
        const ColumnShape& theirs = b.features[k];
        if (mine.kind == ColumnShape::Kind::unknown) mine.kind = theirs.kind;
        if (theirs.kind != ColumnShape::Kind::unknown && theirs.kind != mine.kind)
            throw DataError(
                fmt::format("column \"{}\" of {} has {}, of the others {} (--categorical \"{}\" "
                            "takes all as categories)",
                            mine.name,
                            whose,
                            theirs.kind == ColumnShape::Kind::numbers ? "numbers" : "texts",
                            mine.kind == ColumnShape::Kind::numbers ? "numbers" : "texts",
                            mine.name));
        mine.categories = united_texts(std::move(mine.categories), theirs.categories);
        require_few(mine.name, mine.categories);
    }
    return a;
}

namespace {

/// Place of a shape's column in a table, by name or, without names, by number.
std::size_t place_of(const Table& table, const std::string& column, const std::string& whose) {
    if (const auto found = find_column(table, column)) return *found;
    throw DataError(
        fmt::format("{}: has no column \"{}\", which {} has", table.source, column, whose));
}

/// Place of each category of a column among those of the training data.
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

/// Equal numbers for equal cells.
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
                fail_cell(table, column_name(table, k), row, "is not a number (needed: numbers)");
            rows(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(k)) = number;
        }
    Dataset points;
    points.source = table.source;
    points.target = Target::value;
    points.labels = rows.rightCols(1);
    points.dense = std::move(rows);
    return points;
}

std::vector<std::string> scaled_columns(const TableShape& shape) {
    std::vector<std::string> columns;
    for (const ColumnShape& feature : shape.features)
        if (feature.kind != ColumnShape::Kind::categories) columns.push_back(feature.name);
    if (shape.target == Target::value) columns.push_back(shape.label);
    return columns;
}

Standardisation scaling_by_bounds(const TableShape& shape, const TableOptions& options) {
    const std::vector<std::string> scaled = scaled_columns(shape);
    const auto is_of = [&](const ColumnBounds& bounds, const std::string& column) {
        return bounds.column == column ||
               (shape.columns.empty() && "column " + bounds.column == column);
    };
    for (const ColumnBounds& bounds : options.bounds)
        if (std::ranges::none_of(scaled, [&](const auto& column) { return is_of(bounds, column); }))
            throw unknown_name_error("bounds", bounds.column, scaled);
    const auto bounds_of = [&](const std::string& column) -> ColumnScaling {
        const auto found = std::ranges::find_if(
            options.bounds, [&](const ColumnBounds& bounds) { return is_of(bounds, column); });
        if (found == options.bounds.end())
            throw ConfigError(fmt::format(
                "bounds: column \"{}\" has none (needed: NAME=LOW:HIGH of every column of numbers "
                "where bounds are given: {})",
                column,
                fmt::join(scaled, ", ")));
        return {.mean = found->low / 2 + found->high / 2,
                .deviation = found->high / 2 - found->low / 2,
                .low = found->low,
                .high = found->high};
    };
    const FeatureNames features = feature_names(shape, options.missing);
    Standardisation scaling = no_standardisation(std::ssize(features.names));
    for (std::size_t k = 0; k < features.names.size(); ++k)
        if (features.numbers[k]) scaling.features[k] = bounds_of(features.names[k]);
    if (shape.target == Target::value) scaling.target = bounds_of(shape.label);
    return scaling;
}

namespace {

constexpr double least_variance = 1e-4;

/// A column scaled by its bounds is standardised by the means of z and of z^2.
void standardise_column(ColumnScaling& column, double mean, double square, double noise) {
    if (!std::isfinite(mean) || !std::isfinite(square)) return;
    mean = std::clamp(mean, -1.0, 1.0);
    const double variance = std::min(square, 1.0) - mean * mean;
    if (variance <= 0 && noise < least_variance) return;
    column.mean += column.deviation * mean;
    column.deviation *=
        std::sqrt(std::clamp(variance, std::clamp(noise, least_variance, 1.0), 1.0));
}

}  // namespace

Standardisation scaling_by_moments(const TableShape& shape,
                                   const TableOptions& options,
                                   const Eigen::VectorXd& mean_moments,
                                   double noise) {
    Standardisation scaling = scaling_by_bounds(shape, options);
    const auto columns = std::ssize(scaled_columns(shape));
    if (mean_moments.size() != 2 * columns)
        throw DataError(fmt::format("{} moments for {} columns of numbers (needed: two each)",
                                    mean_moments.size(),
                                    columns));
    const std::vector<bool> numbers = feature_names(shape, options.missing).numbers;
    Eigen::Index place = 0;
    const auto standardise = [&](ColumnScaling& column) {
        standardise_column(column, mean_moments(place), mean_moments(columns + place), noise);
        ++place;
    };
    for (std::size_t k = 0; k < numbers.size(); ++k)
        if (numbers[k]) standardise(scaling.features[k]);
    if (shape.target == Target::value) standardise(scaling.target);
    return scaling;
}

std::vector<std::string> columns_hidden_by_noise(const TableShape& shape,
                                                 const TableOptions& options,
                                                 const Standardisation& scaling,
                                                 double noise) {
    const Standardisation by_bounds = scaling_by_bounds(shape, options);
    const FeatureNames features = feature_names(shape, options.missing);
    const auto is_hidden = [&](const ColumnScaling& column, const ColumnScaling& bounds) {
        constexpr double rounding = 1e-9;
        const double share = column.deviation / bounds.deviation;
        return share * share <= std::max(noise, least_variance) * (1 + rounding) || share == 1;
    };
    std::vector<std::string> hidden;
    for (std::size_t k = 0; k < features.numbers.size(); ++k)
        if (features.numbers[k] && is_hidden(scaling.features[k], by_bounds.features[k]))
            hidden.push_back(features.names[k]);
    if (shape.target == Target::value && is_hidden(scaling.target, by_bounds.target))
        hidden.push_back(shape.label);
    return hidden;
}

}  // namespace sotto
