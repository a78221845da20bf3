#include "learn/norm_histogram.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/numbers.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

/// Record r has the gradient (norms[r], 0) at any model.
class KnownNorms final : public Objective {
  public:
    explicit KnownNorms(std::vector<double> norms) : norms_(std::move(norms)) {}
    Eigen::Index dimension() const override { return 2; }
    Eigen::Index records() const override { return std::ssize(norms_); }
    bool record_clipping() const override { return false; }
    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& /*model*/,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd> gradient) override {
        gradient << norms_.at(static_cast<std::size_t>(rows[0])), 0;
    }
    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>&,
                              std::span<const Eigen::Index>,
                              double,
                              double,
                              Eigen::Ref<Eigen::VectorXd>) override {}
    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>&) override { return {}; }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>&,
                      Eigen::Index,
                      Eigen::Index) override {
        return {};
    }

  private:
    std::vector<double> norms_;
};

Eigen::VectorXd counts_of(std::vector<double> norms, double grid_step = 0x1p-20) {
    KnownNorms records(std::move(norms));
    const auto histogram = make_norm_histogram(records, Eigen::VectorXd::Zero(2));
    std::vector<Eigen::Index> rows(static_cast<std::size_t>(records.records()));
    std::iota(rows.begin(), rows.end(), Eigen::Index{0});
    Eigen::VectorXd counts(norm_bins);
    histogram->clipped_gradient_sum(Eigen::VectorXd::Zero(norm_bins), rows, 1, grid_step, counts);
    return counts;
}

TEST(NormHistogram, BinsAreHalfOctaves) {
    EXPECT_EQ(norm_bin(0), 0);
    EXPECT_EQ(norm_bin(std::numeric_limits<double>::denorm_min()), 0);
    EXPECT_EQ(norm_bin(0x1p-10), 0);
    EXPECT_EQ(norm_bin(1), 20);
    EXPECT_EQ(norm_bin(1 - 1e-12), 19);
    EXPECT_EQ(norm_bin(1.4), 20);
    EXPECT_EQ(norm_bin(1.5), 21);
    EXPECT_EQ(norm_bin(2), 22);
    EXPECT_EQ(norm_bin(std::numeric_limits<double>::max()), norm_bins - 1);
}

TEST(NormHistogram, EveryRecordIsInOneBin) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> norms{0, 1e-300, 1, 1.2, 1.5, 3e5, 1e300, nan, infinity};
    const Eigen::VectorXd counts = counts_of(norms);
    EXPECT_EQ(counts.sum(), 7);  // not those that are not finite
    EXPECT_EQ(counts(20), 2);
    // A record that leaves changes one count by 1, whatever its gradient is.
    for (std::size_t gone = 0; gone < norms.size(); ++gone) {
        std::vector<double> others = norms;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(gone));
        EXPECT_LE((counts - counts_of(others)).norm(), 1) << gone;
    }
    // One that is replaced changes at most two.
    for (std::size_t k = 0; k < norms.size(); ++k)
        for (const double other : norms) {
            std::vector<double> replaced = norms;
            replaced[k] = other;
            EXPECT_LE((counts - counts_of(replaced)).norm(), std::sqrt(2.0)) << k << " " << other;
        }
}

TEST(NormHistogram, RefusesAGridOnWhichOneIsNoMultiple) {
    EXPECT_THROW((void)counts_of({1}, 2), ConfigError);
    EXPECT_THROW((void)counts_of({1}, 0.75), ConfigError);
    EXPECT_EQ(counts_of({1}, 1).sum(), 1);
}

TEST(NormHistogram, TheTypicalNormIsWhereTwoBinsAreHeaviest) {
    Eigen::VectorXd counts = Eigen::VectorXd::Zero(norm_bins);
    counts(20) = 30;
    counts(21) = 10;
    counts(40) = 35;   // heavier alone, but not with its neighbours
    counts(41) = -50;  // noise
    const TypicalNorm norm = typical_norm(counts);
    EXPECT_EQ(norm.bin, 20);
    EXPECT_DOUBLE_EQ(norm.position, 0.25);
    EXPECT_DOUBLE_EQ(norm.value(), std::exp2(0.25 + 0.125));
    EXPECT_TRUE(is_typical(norm, counts));
    EXPECT_TRUE(is_typical({39, 1}, counts));   // nearly as heavy
    EXPECT_FALSE(is_typical({21, 0}, counts));  // a fourth
    EXPECT_FALSE(is_typical({0, 0.5}, counts));
    EXPECT_FALSE(is_typical({-1, 0.5}, counts));
    EXPECT_FALSE(is_typical({norm_bins - 1, 0.5}, counts));
    EXPECT_FALSE(is_typical({20, 1.5}, counts));
    EXPECT_FALSE(is_typical({20, std::nan("")}, counts));
}

TEST(NormHistogram, CountsWithoutWeightHaveAFiniteNorm) {
    EXPECT_TRUE(std::isfinite(typical_norm(Eigen::VectorXd::Zero(norm_bins)).value()));
    EXPECT_TRUE(std::isfinite(typical_norm(Eigen::VectorXd::Constant(norm_bins, -1)).value()));
}

}  // namespace
}  // namespace sotto
