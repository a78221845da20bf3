#include "learn/clipped_records.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/numbers.hpp"
#include "core/test_support.hpp"
#include "learn/gradients.hpp"
#include "learn/test_data.hpp"

namespace sotto {
namespace {

using Outcome = ClippedRecords::Outcome;

TEST(ClippedRecords, AddUpWhatWasClippedAndSayWhich) {
    Eigen::VectorXd sum = Eigen::VectorXd::Ones(3);
    ClippedRecords clipped(0.5, 0x1p-30, sum);
    Eigen::VectorXd small = Eigen::Vector3d(0.1, -0.2, 0),
                    large = Eigen::Vector3d(3e200, 0, -4e200),
                    bad = Eigen::Vector3d(0, not_a_number, 0);
    EXPECT_EQ(clipped.add(small), Outcome::whole);
    EXPECT_EQ(clipped.add(large), Outcome::shortened);
    EXPECT_EQ(clipped.add(bad), Outcome::set_to_zero);
    clipped.finish();
    EXPECT_LE((sum - Eigen::Vector3d(0.4, -0.2, -0.4)).cwiseAbs().maxCoeff(), 3 * 0x1p-30);
    for (const double value : sum) EXPECT_EQ(value, std::round(value * 0x1p30) * 0x1p-30);
}

TEST(ClippedRecords, AreNeverLongerThanTheClip) {
    for (const double scale : {1e-3, 1.0, 1e12, 1e300})
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            Eigen::VectorXd gradient = test::random_vector(11, scale, seed), sum(11);
            ClippedRecords clipped(1.0 / 3, 37 * 0x1p-44, sum);
            (void)clipped.add(gradient);
            clipped.finish();
            EXPECT_TRUE(test::norm_is_at_most(sum, 1.0 / 3)) << scale << ", seed " << seed;
        }
}

TEST(ClippedRecords, OfFloatsAndDoublesHaveTheSameBitsAsOneByOne) {
    Eigen::MatrixXf floats = Eigen::MatrixXf::Random(4099, 5);
    floats.col(1) *= 1e-3F;
    floats(7, 2) = std::nanf("");
    floats.col(3).setZero();
    const Eigen::MatrixXd doubles = floats.cast<double>();
    Eigen::VectorXd one_by_one(4099), of_floats(4099), of_doubles(4099);
    std::vector<Outcome> wanted, found;
    ClippedRecords single(2, 0x1p-40, one_by_one);
    for (Eigen::Index j = 0; j < 5; ++j) {
        Eigen::VectorXd gradient = doubles.col(j);
        wanted.push_back(single.add(gradient));
    }
    single.finish();
    const auto tell = [&](Outcome outcome) { found.push_back(outcome); };
    ClippedRecords by_floats(2, 0x1p-40, of_floats), by_doubles(2, 0x1p-40, of_doubles);
    by_floats.add_columns(Eigen::Map<const Eigen::MatrixXf>(floats.data(), 4099, 5), tell);
    by_floats.finish();
    EXPECT_EQ(found, wanted);
    by_doubles.add_columns(Eigen::Map<const Eigen::MatrixXd>(doubles.data(), 4099, 5), tell);
    by_doubles.finish();
    EXPECT_EQ(of_floats, one_by_one);
    EXPECT_EQ(of_doubles, one_by_one);
}

}  // namespace
}  // namespace sotto
