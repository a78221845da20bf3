#include "audit/contribution_modes.hpp"

#include <gtest/gtest.h>

#include "audit/canary_record_fixtures.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// One recorded run, read in both ways.
class ContributionModesOf : public ::testing::Test {
  protected:
    ContributionModesOf() : pipeline(config()) { pipeline.record(folder.path("views")); }
    static AuditConfig config() {
        AuditConfig config = canary_config("pairs", "all-messages:1");
        config.train.plan.rounds = 6;
        return config;
    }
    ContributionModes read(bool by_round) {
        const AuditSubject& subject = pipeline.subject();
        const Index dimension = pipeline.canaries().dimension();
        RecordedInnovations recorded(
            folder.path("views"), subject.view, subject.process, dimension, "", 1);
        return read_contribution_modes(recorded, 0, 6, dimension, by_round);
    }
    TemporaryFolder folder;
    CanaryPipeline pipeline;
};

TEST_F(ContributionModesOf, AViewOfAllMessagesAreRoundsSeenAsSharplyAsTheAccountantSays) {
    const ContributionModes modes = read(true);
    EXPECT_TRUE(modes.by_round);
    const double precision =
        observed_precision(pipeline.subject().account->plan, {pipeline.subject().view.members})(0);
    for (Index t = 0; t < 6; ++t)
        EXPECT_NEAR(modes.response.coeff(t, t) * modes.response.coeff(t, t) / precision, 1, 1e-9);
    EXPECT_EQ(modes.response.nonZeros(), 6);
    EXPECT_EQ(modes.values.rows(), 6);
    EXPECT_EQ(modes.values.cols(), 401);
}

TEST_F(ContributionModesOf, TheGramMatrixTellsTheSame) {
    const ContributionModes rounds = read(true), gram = read(false);
    EXPECT_FALSE(gram.by_round);
    const MatrixXd direct(rounds.response), other(gram.response);
    EXPECT_LT((direct * direct.transpose() - other * other.transpose()).norm(),
              1e-8 * direct.squaredNorm());
    // Sufficient statistics of contributions.
    EXPECT_LT((direct * rounds.values - other * gram.values).norm(),
              1e-8 * (direct * rounds.values).norm());
}

TEST_F(ContributionModesOf, CanariesThatAreNotThereAreNoiseOfUnitVariance) {
    const ContributionModes modes = read(true);
    const Eigen::VectorXd signs = pipeline.canaries().signs();
    double squares = 0, count = 0;
    for (Index i = 0; i < signs.size(); ++i) {
        if (signs(i) > 0) continue;
        squares += modes.values.col(i).squaredNorm();
        count += 6;
    }
    EXPECT_NEAR(squares / count, 1, 5 * std::sqrt(2 / count));
}

}  // namespace
}  // namespace sotto::test
