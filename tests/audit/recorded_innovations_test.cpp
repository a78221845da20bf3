#include "audit/recorded_innovations.hpp"

#include <gtest/gtest.h>

#include "audit/recording_run.hpp"
#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::pair_view;
using test::RecordingRun;

TEST(RecordedInnovations, AreAsManyAsTheResponses) {
    for (const int gossip_steps : {1, 2}) {
        const RecordingRun run({"Messages", "decor", gossip_steps});
        const MessageProcess process = run.process();
        RecordedInnovations recorded(run.views(), pair_view, process, 24, "24", 1);
        const std::vector<int> target{0};
        const auto responses =
            recorded.test().responses(target, Eigen::MatrixXd::Ones(process.rounds(), 1));
        Eigen::Index steps = 0, whitened = 0, noiseless = 0;
        for (; const auto innovation = recorded.next(); ++steps) {
            EXPECT_EQ(innovation->whitened.cols(), 24);
            EXPECT_TRUE(innovation->whitened.allFinite());
            whitened += innovation->whitened.rows();
            noiseless += innovation->noiseless.rows();
        }
        EXPECT_EQ(steps, process.rounds() * gossip_steps);
        EXPECT_EQ(whitened, responses.whitened.rows());
        EXPECT_EQ(noiseless, responses.noiseless.rows());
        EXPECT_TRUE(recorded.leak_findings().empty());
    }
}

TEST(RecordedInnovations, SayWhoHoldsASeedAndWhoseItIs) {
    RecordingRun run({"Messages", "decor"});
    for (const int group : run.rings()[4].groups())
        if (!run.rings()[1].holds(group))
            run.rings()[1].add(group, run.rings()[4].seed(group).clone());
    std::filesystem::remove(run.views() / "1" / "seeds.json");
    record_seeds(run.views(), run.plan(), run.rings()[1]);
    const MessageProcess process = run.process();
    const RecordedInnovations recorded(run.views(), pair_view, process, 24, "24", 1);
    const auto findings = recorded.leak_findings();
    ASSERT_FALSE(findings.empty());
    for (const std::string& finding : findings) {
        EXPECT_TRUE(finding.starts_with("agent 1 holds the seed of group ")) << finding;
        EXPECT_NE(finding.find('4', finding.find("members are")), std::string::npos) << finding;
    }
}

TEST(RecordedInnovations, OfOtherModelsAreRefused) {
    const RecordingRun run({"Messages", "decor"});
    const MessageProcess process = run.process();
    test::expect_contains(test::message_of<DataError>([&] {
                              const RecordedInnovations recorded(
                                  run.views(), pair_view, process, 25, "rows have 25", 1);
                          }),
                          "models of 24 coordinates are recorded, rows have 25");
}

}  // namespace
}  // namespace sotto
