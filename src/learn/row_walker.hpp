#pragma once

// Sparse records in the innermost loops; not installed.

#include <Eigen/Sparse>
#include <algorithm>

namespace sotto {

/// The arrays of a compressed sparse matrix, without Eigen's iterators: they are walked in the
/// innermost loops of every round.
class RowWalker {
  public:
    RowWalker() = default;
    /// `features` must stay where it is, unchanged and compressed.
    explicit RowWalker(const Eigen::SparseMatrix<double, Eigen::RowMajor>& features)
        : starts_(features.outerIndexPtr()),
          columns_(features.innerIndexPtr()),
          values_(features.valuePtr()),
          binary_(std::all_of(
              values_, values_ + features.nonZeros(), [](double value) { return value == 1; })) {}

    /// Every stored value is 1, so that values need not be read.
    [[nodiscard]] bool binary() const { return binary_; }

    /// Calls f(column, value) for the stored values of a row; the value is the constant 1 when
    /// `is_binary` (which must then be what binary() says).
    template <bool is_binary, class Function>
    void for_each(Eigen::Index row, Function&& f) const {
        const int end = starts_[row + 1];
        for (int k = starts_[row]; k < end; ++k) f(columns_[k], is_binary ? 1.0 : values_[k]);
    }

    /// w.a + b, added in two interleaved chains: one would wait for every addition.
    template <bool is_binary>
    [[nodiscard]] double score(Eigen::Index row, const double* weights, double bias) const {
        int k = starts_[row];
        const int end = starts_[row + 1];
        double even = bias, odd = 0;
        for (; k + 1 < end; k += 2) {
            even += is_binary ? weights[columns_[k]] : weights[columns_[k]] * values_[k];
            odd += is_binary ? weights[columns_[k + 1]] : weights[columns_[k + 1]] * values_[k + 1];
        }
        if (k < end) even += is_binary ? weights[columns_[k]] : weights[columns_[k]] * values_[k];
        return even + odd;
    }
    [[nodiscard]] double score(Eigen::Index row, const double* weights, double bias) const {
        return binary_ ? score<true>(row, weights, bias) : score<false>(row, weights, bias);
    }

  private:
    const int* starts_ = nullptr;
    const int* columns_ = nullptr;
    const double* values_ = nullptr;
    bool binary_ = false;
};

}  // namespace sotto
