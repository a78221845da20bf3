#include "sotto/learn/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

/// An empty compressed matrix with memory for `values` entries. @throws DataError if their number
/// does not fit the 32-bit offsets of the sparse format.
Eigen::SparseMatrix<double, Eigen::RowMajor> sparse_rows(Eigen::Index rows,
                                                         Eigen::Index columns,
                                                         Eigen::Index values) {
    if (values > std::numeric_limits<int>::max())
        throw DataError(fmt::format("data set of {} values: at most {} are supported",
                                    values,
                                    std::numeric_limits<int>::max()));
    Eigen::SparseMatrix<double, Eigen::RowMajor> matrix(rows, columns);
    matrix.resizeNonZeros(values);
    return matrix;
}

/// Appends source rows [first, first+count) behind the `written` rows that `matrix` already holds.
void append_rows(Eigen::SparseMatrix<double, Eigen::RowMajor>& matrix,
                 Eigen::Index written,
                 const Eigen::SparseMatrix<double, Eigen::RowMajor>& source,
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

}  // namespace

Dataset concatenate(const std::vector<Dataset>& parts) {
    if (parts.empty()) throw DataError("concatenate: needs at least one data set");
    Eigen::Index records = 0, columns = 0, values = 0;
    Dataset result;
    for (const Dataset& part : parts) {
        records += part.records();
        columns = std::max(columns, part.feature_count());
        values += part.features.nonZeros();
        result.source += (result.source.empty() ? "" : " + ") + part.source;
    }
    result.features = sparse_rows(records, columns, values);
    result.labels.resize(records);
    Eigen::Index written = 0;
    for (const Dataset& part : parts) {
        append_rows(result.features, written, part.features, 0, part.records());
        result.labels.segment(written, part.records()) = part.labels;
        written += part.records();
    }
    return result;
}

Dataset select_rows(const Dataset& data, std::span<const Eigen::Index> rows) {
    Eigen::Index values = 0;
    for (const Eigen::Index row : rows) {
        if (row < 0 || row >= data.records())
            throw DataError(fmt::format("{}: row {} was asked for, rows are 0 to {}",
                                        data.source,
                                        row,
                                        data.records() - 1));
        values += data.features.outerIndexPtr()[row + 1] - data.features.outerIndexPtr()[row];
    }
    const auto count = static_cast<Eigen::Index>(rows.size());
    Dataset result;
    result.source = data.source;
    result.features = sparse_rows(count, data.feature_count(), values);
    result.labels.resize(count);
    for (Eigen::Index i = 0; i < count; ++i) {
        const Eigen::Index row = rows[static_cast<std::size_t>(i)];
        append_rows(result.features, i, data.features, row, 1);
        result.labels[i] = data.labels[row];
    }
    return result;
}

Split split_rows(Eigen::Index records, double test_fraction, std::uint64_t seed) {
    if (!(test_fraction > 0 && test_fraction < 1))
        throw ConfigError(
            fmt::format("test fraction {}: must be above 0 and below 1", test_fraction));
    if (records < 2)
        throw DataError(
            fmt::format("{} records: a split into training and test needs two", records));
    std::vector<Eigen::Index> order(static_cast<std::size_t>(records));
    std::iota(order.begin(), order.end(), Eigen::Index{0});
    SeededRandom random(seed, "train-test-split");
    random.shuffle(order);
    const auto test_count = std::clamp<Eigen::Index>(
        std::llround(static_cast<double>(records) * test_fraction), 1, records - 1);
    Split split;
    split.test.assign(order.begin(), order.begin() + test_count);
    split.train.assign(order.begin() + test_count, order.end());
    std::sort(split.test.begin(), split.test.end());
    std::sort(split.train.begin(), split.train.end());
    return split;
}

}  // namespace sotto
