#include "audit/membership_figures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "config/run_fixtures.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::message_of;
using test::random_real_data;

std::map<double, long> labels_of(const Dataset& data, const std::vector<Eigen::Index>& rows) {
    std::map<double, long> counts;
    for (const Eigen::Index row : rows) ++counts[data.labels(row)];
    return counts;
}

TEST(MatchedRows, HaveTheSameLabelsInsideAndOutside) {
    const Dataset shard = random_real_data(80, 5, 1), test = random_real_data(50, 5, 2);
    const MatchedRows rows = match_rows(shard, test, 7, 3);
    EXPECT_EQ(labels_of(shard, rows.inside), labels_of(test, rows.outside));
    // No row twice, and as many of a label as the smaller set has.
    for (const auto* list : {&rows.inside, &rows.outside}) {
        std::vector<Eigen::Index> sorted = *list;
        std::ranges::sort(sorted);
        EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
    }
    for (const auto& [label, count] : labels_of(shard, rows.inside)) {
        const auto have = [&](const Dataset& data) {
            return static_cast<long>((data.labels.array() == label).count());
        };
        EXPECT_EQ(count, std::min(have(shard), have(test)));
    }
    EXPECT_EQ(rows.inside, match_rows(shard, test, 7, 3).inside);
    EXPECT_NE(rows.inside, match_rows(shard, test, 7, 4).inside);
}

/// Logistic models of one feature a record: data that no model knows but by heart.
struct Known {
    AgentData own;
    LocalData data;
    AuditConfig config;
};
Known known_records(Eigen::Index records) {
    Known known;
    const auto one_feature = [&](Eigen::Index first) {
        Dataset data;
        data.features.resize(records, 2 * records);
        data.labels = Eigen::VectorXd::Ones(records);
        for (Eigen::Index i = 0; i < records; ++i) {
            data.features.insert(i, first + i) = 1;
            if (i % 2 == 0) data.labels(i) = -1;
        }
        data.features.makeCompressed();
        data.source = "test";
        return data;
    };
    known.own.shard = one_feature(0);
    known.own.test = std::make_shared<const Dataset>(one_feature(records));
    known.data.shape.features = 2 * records;
    known.data.shape.labels = {-1, 1};
    return known;
}

TEST(MembershipFigures, TellRecordsThatAModelKnowsByHeart) {
    const Known known = known_records(100);
    Eigen::VectorXd model = Eigen::VectorXd::Zero(201);
    const auto measure = [&] {
        return measure_membership(2, known.own, known.data, known.config, model, 0.01);
    };
    const MembershipFigures nothing = measure();
    EXPECT_EQ(nothing.target, 2);
    EXPECT_EQ(nothing.records, 100);
    EXPECT_EQ(nothing.ranking.auc, 0.5);
    EXPECT_EQ(nothing.epsilon_lower, 0);
    model.head(100) = 3 * known.own.shard.labels;
    const MembershipFigures everything = measure();
    EXPECT_EQ(everything.ranking.auc, 1);
    EXPECT_EQ(everything.ranking.advantage, 1);
    EXPECT_GT(everything.epsilon_lower, 1);
    EXPECT_LE(everything.epsilon_certain, everything.epsilon_lower);
}

TEST(MembershipFigures, OfFewRecordsBoundNothing) {
    const Known known = known_records(12);
    const MembershipFigures figures =
        measure_membership(0, known.own, known.data, known.config, Eigen::VectorXd::Zero(25), 0.01);
    EXPECT_EQ(figures.records, 12);
    EXPECT_TRUE(std::isnan(figures.epsilon_lower));
    EXPECT_TRUE(std::isnan(figures.epsilon_certain));
    EXPECT_FALSE(figures.exceeds());
    test::expect_contains(
        message_of<DataError>([&] {
            (void)measure_membership(
                0, known.own, known.data, known.config, Eigen::VectorXd::Zero(26), 0.01);
        }),
        "models of 26 parameters");
}

TEST(MembershipFigures, SurviveTheirWayToOtherProcesses) {
    const auto network = make_memory_network(3, 1);
    std::vector<AskedAgent> own(3);
    for (int u = 0; u < 3; ++u) {
        own[static_cast<std::size_t>(u)].records = 10 + u;
        own[static_cast<std::size_t>(u)].figures.target = u;
    }
    MembershipFigures& last = own.back().figures;
    last.records = 7;
    last.ranking = {0.8, 0.7, 0.9, 0.3};
    last.epsilon_lower = 1.5;
    last.epsilon_certain = std::nan("");
    const std::vector<AskedAgent> all = share_figures(own, *network);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[1].records, 11);
    EXPECT_EQ(all[2].figures.target, 2);
    EXPECT_EQ(all[2].figures.records, 7);
    EXPECT_EQ(all[2].figures.ranking.auc, 0.8);
    EXPECT_EQ(all[2].figures.ranking.lower, 0.7);
    EXPECT_EQ(all[2].figures.ranking.upper, 0.9);
    EXPECT_EQ(all[2].figures.ranking.advantage, 0.3);
    EXPECT_EQ(all[2].figures.epsilon_lower, 1.5);
    EXPECT_TRUE(std::isnan(all[2].figures.epsilon_certain));

    std::swap(own[0], own[1]);
    EXPECT_THROW((void)share_figures(own, *network), NetworkError);
    own.pop_back();
    EXPECT_THROW((void)share_figures(own, *network), NetworkError);
}

}  // namespace
}  // namespace sotto
