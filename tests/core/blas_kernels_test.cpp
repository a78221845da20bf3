#include "sotto/core/blas_kernels.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "core/linear_algebra.hpp"

namespace sotto {
namespace {

using enum VectorInstructions;

struct ChoiceCase {
    const char* kernels;
    std::optional<VectorInstructions> processor;
    std::optional<std::string_view> chosen;
};

TEST(NewerKernels, AreThoseForAllThatTheProcessorOffers) {
    const ChoiceCase cases[] = {
        {"Prescott", avx512, "SkylakeX"},  // an Intel Xeon that OpenBLAS does not know
        {"Haswell", avx512, "SkylakeX"},   // an AMD EPYC that it does not know
        {"Zen", avx512, "SkylakeX"},
        {"Prescott", avx2, "Haswell"},
        {"Barcelona", avx2, "Haswell"},
        {"Nehalem", avx, "Sandybridge"},
        {"Prescott", sse, std::nullopt},  // as much as the processor has
        {"Haswell", avx2, std::nullopt},
        {"Zen", avx2, std::nullopt},
        {"SkylakeX", avx512, std::nullopt},
        {"Cooperlake", avx512, std::nullopt},
        {"SkylakeX", avx2, std::nullopt},  // more than it has: somebody's choice
        {"Generic", avx512, std::nullopt},
        {"", avx512, std::nullopt},  // no OpenBLAS
        {"Prescott", std::nullopt, std::nullopt},
        {"ARMV8", std::nullopt, std::nullopt},
    };
    for (const ChoiceCase& one : cases)
        EXPECT_EQ(newer_kernels(one.kernels, one.processor), one.chosen)
            << one.kernels << " on " << (one.processor ? name_of(*one.processor) : "another kind");
}

TEST(NewerKernels, AreKnownAndThenAsNewAsTheProcessor) {
    for (const auto processor : {avx, avx2, avx512}) {
        const auto chosen = newer_kernels("Prescott", processor);
        ASSERT_TRUE(chosen);
        EXPECT_EQ(instructions_of_kernels(*chosen), processor);
        EXPECT_EQ(newer_kernels(*chosen, processor), std::nullopt);
    }
}

/// Puts kernels and variable back that a test has changed.
class Kernels : public ::testing::Test {
  protected:
    void SetUp() override {
        end_blas_threads();
        if (before_.empty() || !set_blas_kernels(before_))
            GTEST_SKIP() << "no OpenBLAS with kernels for several processors";
    }
    void TearDown() override {
        if (!before_.empty()) set_blas_kernels(before_);
        if (variable_) ::setenv("OPENBLAS_CORETYPE", variable_->c_str(), 1);
    }

    std::string before_ = blas_kernels();
    std::optional<std::string> variable_ = [] {
        const char* const value = std::getenv("OPENBLAS_CORETYPE");
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    }();
};

TEST_F(Kernels, OfEveryKindThatTheProcessorHasMultiplyRight) {
    Eigen::MatrixXd a = Eigen::MatrixXd::Random(67, 45), b = Eigen::MatrixXd::Random(45, 31);
    const Eigen::MatrixXd product = a.lazyProduct(b);
    for (const char* name : {"Prescott", "Sandybridge", "Haswell", "SkylakeX"}) {
        if (*instructions_of_kernels(name) > processor_instructions()) continue;
        ASSERT_TRUE(set_blas_kernels(name));
        EXPECT_EQ(blas_kernels(), name);
        Eigen::MatrixXd found = Eigen::MatrixXd::Zero(67, 31);
        add_product(1, a, false, b, false, found);
        EXPECT_LE((found - product).cwiseAbs().maxCoeff(), 1e-13) << name;
        Eigen::MatrixXd gram = a.transpose() * a;
        EXPECT_TRUE(cholesky(gram));
        EXPECT_LE((gram * gram.transpose() - a.transpose() * a).cwiseAbs().maxCoeff(), 1e-12)
            << name;
    }
}

TEST_F(Kernels, AreChosenForTheProcessorUnlessTheUserHasChosen) {
    ASSERT_TRUE(set_blas_kernels("Prescott"));
    ASSERT_EQ(::setenv("OPENBLAS_CORETYPE", "Prescott", 1), 0);
    choose_blas_kernels();
    EXPECT_EQ(blas_kernels(), "Prescott");
    ASSERT_EQ(::unsetenv("OPENBLAS_CORETYPE"), 0);
    choose_blas_kernels();
    EXPECT_EQ(newer_kernels(blas_kernels(), processor_instructions()), std::nullopt);
    EXPECT_EQ(std::getenv("OPENBLAS_CORETYPE"), nullptr) << "programs it starts are not told";
}

}  // namespace
}  // namespace sotto
