#include "sotto/learn/dataset.hpp"

#include <fmt/format.h>

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

Dataset concatenate(std::vector<Dataset> parts) {
    if (parts.empty()) throw DataError("concatenate: needs at least one data set");
    for (std::size_t i = 1; i < parts.size(); ++i) {
        require_same_format(parts.front(), parts[i]);
        require_same_kind(parts.front(), parts[i]);
    }
    Dataset result;
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

}  // namespace sotto
