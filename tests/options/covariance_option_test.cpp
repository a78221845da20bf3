#include "options/covariance_option.hpp"

#include <gtest/gtest.h>

#include "options/option_set.hpp"
#include "options/plan_options.hpp"

namespace sotto {
namespace {

PlanConfig read_plan(const OptionTexts& given) {
    return OptionSet<PlanConfig>().add(plan_options()).read(given);
}

TEST(CovarianceFile, ChoosesItsMechanism) {
    EXPECT_EQ(read_plan({{"covariance", "R.npy"}}).mechanism, "covariance");
    for (const char* mechanism : {"corn", "pairs"})
        EXPECT_EQ(read_plan({{"covariance", "R.npy"}, {"mechanism", mechanism}}).mechanism,
                  mechanism)
            << "require_covariance_file refuses it";
    EXPECT_EQ(read_plan({{"covariance", "R.npy"}}).covariance_file, "R.npy");
    EXPECT_EQ(covariance_options().size(), 1U);
}

}  // namespace
}  // namespace sotto
