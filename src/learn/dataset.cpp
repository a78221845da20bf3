#include "sotto/learn/dataset.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

/// Features of grey values: looked up, since every image is divided again for every model.
constexpr std::array<double, 256> grey = [] {
    std::array<double, 256> features{};
    for (std::size_t value = 0; value < features.size(); ++value)
        features[value] = static_cast<double>(value) / 255.0;
    return features;
}();

/// An empty compressed matrix with memory for `values` entries. @throws DataError if their number
/// does not fit the 32-bit offsets of the sparse format.
SparseRows sparse_rows(Eigen::Index rows, Eigen::Index columns, Eigen::Index values) {
    if (values > std::numeric_limits<int>::max())
        throw DataError(fmt::format("data set of {} values: at most {} are supported",
                                    values,
                                    std::numeric_limits<int>::max()));
    SparseRows matrix(rows, columns);
    matrix.resizeNonZeros(values);
    return matrix;
}

/// Appends source rows [first, first+count) behind the `written` rows that `matrix` already holds.
void append_rows(SparseRows& matrix,
                 Eigen::Index written,
                 const SparseRows& source,
                 Eigen::Index first,
                 Eigen::Index count) {
    const int* starts = source.outerIndexPtr() + first;
    int* target = matrix.outerIndexPtr() + written;
    std::copy(source.innerIndexPtr() + starts[0],
              source.innerIndexPtr() + starts[count],
              matrix.innerIndexPtr() + target[0]);
    std::copy(source.valuePtr() + starts[0],
              source.valuePtr() + starts[count],
              matrix.valuePtr() + target[0]);
    for (Eigen::Index row = 0; row < count; ++row)
        target[row + 1] = target[row] + (starts[row + 1] - starts[row]);
}

void require_row(const Dataset& data, Eigen::Index row) {
    if (row < 0 || row >= data.records())
        throw DataError(fmt::format(
            "{}: row {} was asked for, rows are 0 to {}", data.source, row, data.records() - 1));
}

SparseRows stacked_sparse(const std::vector<Dataset>& parts, Eigen::Index records) {
    Eigen::Index columns = 0, values = 0;
    for (const Dataset& part : parts) {
        columns = std::max(columns, part.feature_count());
        values += part.features.nonZeros();
    }
    SparseRows result = sparse_rows(records, columns, values);
    Eigen::Index written = 0;
    for (const Dataset& part : parts) {
        append_rows(result, written, part.features, 0, part.records());
        written += part.records();
    }
    return result;
}

/// Rows of all parts; all hold matrices of kind Rows with equally many columns.
template <class Rows>
Rows stacked_dense(const std::vector<Dataset>& parts, Eigen::Index records) {
    Rows result(records, parts.front().feature_count());
    Eigen::Index written = 0;
    for (const Dataset& part : parts) {
        result.middleRows(written, part.records()) = std::get<Rows>(*part.dense);
        written += part.records();
    }
    return result;
}

/// Which of the kinds that cannot be mixed a data set is.
std::size_t kind_of(const Dataset& data) { return data.dense ? 1 + data.dense->index() : 0; }

void require_same_format(const Dataset& first, const Dataset& other) {
    if (kind_of(first) != kind_of(other) || first.target != other.target)
        throw DataError(fmt::format("{} and {} are of different formats and cannot be one data set",
                                    first.source,
                                    other.source));
}

void require_same_kind(const Dataset& first, const Dataset& other) {
    if (first.dense &&
        (first.feature_count() != other.feature_count() || first.image_rows != other.image_rows))
        throw DataError(fmt::format("{} has {} features, {} has {}",
                                    first.source,
                                    first.feature_count(),
                                    other.source,
                                    other.feature_count()));
    if (first.writers.empty() != other.writers.empty())
        throw DataError(fmt::format(
            "only one of {} and {} says who wrote its records", first.source, other.source));
}

}  // namespace

Eigen::Index Dataset::feature_count() const {
    if (!dense) return features.cols();
    return std::visit([](const auto& rows) { return rows.cols(); }, *dense);
}

namespace {

/// Names that are in one list and not in the other, as a message shows them.
std::string only_in(const std::vector<std::string>& names, const std::vector<std::string>& others) {
    constexpr std::size_t most_shown = 8;
    std::vector<std::string> alone;
    for (const std::string& name : names)
        if (std::ranges::count(names, name) != std::ranges::count(others, name))
            alone.push_back(fmt::format("\"{}\"", name.substr(0, 40)));
    const std::size_t more = alone.size() - std::min(alone.size(), most_shown);
    alone.resize(alone.size() - more);
    return fmt::format("{}{}",
                       fmt::join(alone, ", "),
                       more > 0 ? fmt::format(" and {} more", more) : std::string());
}

void require_same_names(const Dataset& data,
                        const std::vector<std::string>& names,
                        const std::string& whose) {
    if (data.columns.empty() || names.empty())
        throw DataError(fmt::format(
            "{}: {} a header line and {} {}: their columns cannot be compared (give all files a "
            "header, or none)",
            data.source,
            data.columns.empty() ? "has not" : "has",
            whose,
            data.columns.empty() ? "has" : "has not"));
    const std::string own = only_in(data.columns, names), others = only_in(names, data.columns);
    if (!own.empty() || !others.empty())
        throw DataError(
            fmt::format("{}: its columns are not those of {}: {}{}{}{}{} (give all "
                        "files the same columns, in any order)",
                        data.source,
                        whose,
                        own.empty() ? "" : "it alone has ",
                        own,
                        own.empty() || others.empty() ? "" : "; ",
                        others.empty() ? "" : "it lacks ",
                        others));
    std::vector<std::string> sorted = names;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
        throw DataError(fmt::format(
            "{}: column \"{}\" is there twice, and columns stand in another order than in {} "
            "(give every column a name of its own)",
            data.source,
            *twice,
            whose));
}

}  // namespace

Dataset with_columns(Dataset data,
                     const std::vector<std::string>& names,
                     const std::string& whose) {
    if (data.columns == names) return data;
    require_same_names(data, names, whose);
    auto& table = std::get<RealRows>(data.dense.value());
    RealRows whole(table.rows(), table.cols() + 1);
    whole << table, data.labels;
    for (std::size_t k = 0; k < names.size(); ++k) {
        const auto from = std::ranges::find(data.columns, names[k]) - data.columns.begin();
        if (k + 1 == names.size())
            data.labels = whole.col(from);
        else
            table.col(static_cast<Eigen::Index>(k)) = whole.col(from);
    }
    data.columns = names;
    return data;
}

Dataset concatenate(std::vector<Dataset> parts) {
    if (parts.empty()) throw DataError("concatenate: needs at least one data set");
    for (std::size_t i = 1; i < parts.size(); ++i) {
        require_same_format(parts.front(), parts[i]);
        parts[i] = with_columns(std::move(parts[i]), parts.front().columns, parts.front().source);
        require_same_kind(parts.front(), parts[i]);
    }
    Dataset result;
    result.columns = parts.front().columns;
    result.target = parts.front().target;
    result.image_rows = parts.front().image_rows;
    Eigen::Index records = 0;
    int writers = 0;
    for (const Dataset& part : parts) {
        records += part.records();
        result.source += (result.source.empty() ? "" : " + ") + part.source;
        int largest = -1;
        for (const int writer : part.writers) {
            result.writers.push_back(writers + writer);
            largest = std::max(largest, writer);
        }
        writers += largest + 1;
    }
    if (!parts.front().dense)
        result.features = stacked_sparse(parts, records);
    else if (std::holds_alternative<PixelRows>(*parts.front().dense))
        result.dense = stacked_dense<PixelRows>(parts, records);
    else
        result.dense = stacked_dense<RealRows>(parts, records);
    result.labels.resize(records);
    Eigen::Index written = 0;
    for (const Dataset& part : parts) {
        result.labels.segment(written, part.records()) = part.labels;
        written += part.records();
    }
    return result;
}

Dataset select_rows(const Dataset& data, std::span<const Eigen::Index> rows) {
    Dataset result;
    result.source = data.source;
    result.target = data.target;
    result.columns = data.columns;
    result.image_rows = data.image_rows;
    const auto count = static_cast<Eigen::Index>(rows.size());
    result.labels.resize(count);
    Eigen::Index values = 0;
    for (Eigen::Index i = 0; i < count; ++i) {
        const Eigen::Index row = rows[static_cast<std::size_t>(i)];
        require_row(data, row);
        result.labels[i] = data.labels[row];
        if (!data.writers.empty())
            result.writers.push_back(data.writers[static_cast<std::size_t>(row)]);
        if (!data.dense)
            values += data.features.outerIndexPtr()[row + 1] - data.features.outerIndexPtr()[row];
    }
    if (data.dense) {
        std::visit(
            [&]<class Rows>(const Rows& source) {
                Rows chosen(count, source.cols());
                for (Eigen::Index i = 0; i < count; ++i)
                    chosen.row(i) = source.row(rows[static_cast<std::size_t>(i)]);
                result.dense = std::move(chosen);
            },
            *data.dense);
        return result;
    }
    result.features = sparse_rows(count, data.feature_count(), values);
    for (Eigen::Index i = 0; i < count; ++i)
        append_rows(result.features, i, data.features, rows[static_cast<std::size_t>(i)], 1);
    return result;
}

Dataset widened(Dataset data, Eigen::Index features) {
    if (data.feature_count() >= features) return data;
    if (data.dense)
        throw DataError(fmt::format("{}: {} features where other data have {}",
                                    data.source,
                                    data.feature_count(),
                                    features));
    data.features.conservativeResize(data.features.rows(), features);
    return data;
}

Dataset with_sparse_features(Dataset data) {
    if (!data.dense) return data;
    Eigen::MatrixXd columns(data.feature_count(), data.records());
    std::vector<Eigen::Index> rows(static_cast<std::size_t>(data.records()));
    std::iota(rows.begin(), rows.end(), Eigen::Index{0});
    copy_features(data, rows, columns);
    data.features = SparseRows(columns.transpose().sparseView());
    data.features.makeCompressed();
    data.dense.reset();
    return data;
}

void copy_features(const Dataset& data,
                   std::span<const Eigen::Index> rows,
                   Eigen::Ref<Eigen::MatrixXd> out) {
    for (std::size_t j = 0; j < rows.size(); ++j) {
        const Eigen::Index row = rows[j];
        require_row(data, row);
        auto column = out.col(static_cast<Eigen::Index>(j));
        if (!data.dense) {
            column.setZero();
            for (SparseRows::InnerIterator entry(data.features, row); entry; ++entry)
                column[entry.col()] = entry.value();
        } else if (const auto* pixels = std::get_if<PixelRows>(&*data.dense)) {
            const std::uint8_t* const values = &pixels->coeff(row, 0);
            for (Eigen::Index k = 0; k < column.size(); ++k) column[k] = grey[values[k]];
        } else {
            column = std::get<RealRows>(*data.dense).row(row).transpose();
        }
    }
}

Eigen::VectorXd mean_features(const Dataset& data, std::span<const Eigen::Index> rows) {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(data.feature_count());
    Eigen::VectorXd one(sum.size());
    for (const Eigen::Index row : rows) {
        copy_features(data, {&row, 1}, one);
        sum += one;
    }
    if (!rows.empty()) sum /= static_cast<double>(rows.size());
    return sum;
}

Dataset with_target_as_feature(Dataset data) {
    if (data.target != Target::value) return data;
    const auto& table = std::get<RealRows>(data.dense.value());
    RealRows wider(table.rows(), table.cols() + 1);
    wider << table, data.labels;
    data.dense = std::move(wider);
    return data;
}

}  // namespace sotto
