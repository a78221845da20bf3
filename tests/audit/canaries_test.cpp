#include "audit/canaries.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

AuditDesign three_hypotheses() {
    AuditDesign design;
    design.target = 1;
    design.seed = 9;
    design.trials = 1203;
    design.contribution = 0.05;
    design.hypotheses = {{.name = "constant", .signs = Eigen::Vector4d(1, 1, 1, 1)},
                         {.name = "random", .signs = Eigen::Vector4d(1, -1, -1, 1)},
                         {.name = "worst", .signs = Eigen::Vector4d(1, 0, -1, 0)}};
    return design;
}

TEST(Canaries, HaveAsManyOfBothSignsInEveryHypothesis) {
    const AuditDesign design = three_hypotheses();
    const Eigen::VectorXd signs = design.secret_signs();
    ASSERT_EQ(signs.size(), design.trials);
    for (Eigen::Index h = 0; h < 3; ++h) {
        double sum = 0;
        for (Eigen::Index i = h; i < signs.size(); i += 3) {
            EXPECT_EQ(std::abs(signs(i)), 1);
            sum += signs(i);
        }
        EXPECT_LE(std::abs(sum), 1) << h;
    }
    EXPECT_EQ(signs, design.secret_signs());
    AuditDesign other = design;
    other.seed = 10;
    EXPECT_NE(signs, other.secret_signs());
}

TEST(Canaries, SurviveTheirWayThroughAFile) {
    const AuditDesign design = three_hypotheses();
    const AuditDesign back = canaries_from_json(canaries_json(design), "canaries.json");
    EXPECT_EQ(back.target, design.target);
    EXPECT_EQ(back.seed, design.seed);
    EXPECT_EQ(back.trials, design.trials);
    EXPECT_EQ(back.contribution, design.contribution);
    EXPECT_EQ(back.patterns(), design.patterns());
    EXPECT_EQ(back.hypotheses[2].name, "worst");
    EXPECT_EQ(back.secret_signs(), design.secret_signs());
}

TEST(Canaries, OfADamagedFileAreRefused) {
    const auto message = [](auto&& damage) {
        test::Json json = test::Json::parse(canaries_json(three_hypotheses()));
        damage(json);
        return test::message_of<DataError>(
            [&] { (void)canaries_from_json(json.dump(), "canaries.json"); });
    };
    test::expect_contains(message([](auto& json) { json["version"] = 2; }),
                          "version is 2 (must be 1)");
    test::expect_contains(message([](auto& json) { json.erase("seed"); }), "not canaries");
    for (const auto& [key, value] :
         {std::pair{"target", -1.0}, {"trials", 10.0}, {"contribution", 0.0}})
        test::expect_contains(message([&](auto& json) { json[key] = value; }),
                              std::string(key) + " is ");
    test::expect_contains(message([](auto& json) { json["contribution"] = 1e308; }),
                          "contribution is 1e+308 (must be above 0 and at most 1e+100)");
    test::expect_contains(message([](auto& json) {
                              json["hypotheses"][1]["signs"] = {1, 1};
                          }),
                          "hypotheses with equally many signs each");
    test::expect_contains(
        test::message_of<DataError>([] { (void)canaries_from_json("{", "canaries.json"); }),
        "canaries.json: not canaries");
}

TEST(Canaries, AreContributedByTheTargetAloneInItsPattern) {
    const AuditDesign design = three_hypotheses();
    const auto network = make_memory_network(3, 1);
    const LocalTask task = make_canary_task(design, 4, *network);
    ASSERT_EQ(task.objectives.size(), 3U);
    EXPECT_TRUE(task.fixed_inputs && task.coordinates && task.rows_are_rounds);
    EXPECT_EQ(task.initial.size(), design.trials);
    const Eigen::VectorXd signs = design.secret_signs();
    const Eigen::MatrixXd patterns = design.patterns();
    for (int agent = 0; agent < 3; ++agent)
        for (Eigen::Index round = 0; round < 4; ++round) {
            Eigen::VectorXd gradient(design.trials);
            task.objectives[static_cast<std::size_t>(agent)]->mean_gradient(
                task.initial, {&round, 1}, gradient);
            Eigen::VectorXd expected = Eigen::VectorXd::Zero(design.trials);
            for (Eigen::Index i = 0; agent == design.target && i < expected.size(); ++i)
                expected(i) = 4 * 0.05 * signs(i) * patterns(round, i % 3);
            EXPECT_LE((gradient - expected).cwiseAbs().maxCoeff(), 1e-15) << agent << " " << round;
        }
}

}  // namespace
}  // namespace sotto
