#include <gtest/gtest.h>

#include "design/mechanism_fixtures.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(DpFedavg, HasTheNoiseOfATrustedAggregator) {
    for (const auto& setting : settings({1, 6})) {
        const DesignInput input = setting.input(10);
        const Design design = design_of("dp-fedavg", input), cdp = design_of("cdp", input);
        EXPECT_EQ(design.objective, cdp.objective);
        EXPECT_EQ(design.plan.aggregation, Aggregation::trusted_mean);
        EXPECT_EQ(design.plan.grid_step(), cdp.plan.grid_step());
        EXPECT_EQ(spatial_covariance(design.plan), spatial_covariance(cdp.plan));
    }
}

TEST(DpFedavg, AloneTakesLocalSteps) {
    EXPECT_EQ(mechanisms_with(&Mechanism::local_updates), std::vector<std::string>{"dp-fedavg"});
}

}  // namespace
}  // namespace sotto
