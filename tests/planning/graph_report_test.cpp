#include "planning/graph_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

namespace sotto {
namespace {

GraphReport report_of(Topology topology, int agents, const std::string& mixing) {
    GraphConfig config;
    config.topology.topology = topology;
    config.topology.agents = agents;
    config.mixing = mixing;
    return describe_graph(build_topography(config, 1), mixing);
}

TEST(GraphReport, KnowsTheSpectrumOfARing) {
    // Metropolis weights of a ring are 1/3: eigenvalues 1/3 + 2/3 cos(2 pi k / n).
    const GraphReport report = report_of(Topology::ring, 9, "metropolis");
    EXPECT_EQ(report.agents, 9);
    EXPECT_EQ(report.edges, 9U);
    EXPECT_EQ(report.degree_min, 2);
    EXPECT_EQ(report.degree_max, 2);
    EXPECT_TRUE(report.connected);
    EXPECT_TRUE(report.doubly_stochastic);
    EXPECT_NEAR(report.lambda2, 1.0 / 3 + 2.0 / 3 * std::cos(2 * std::numbers::pi / 9), 1e-12);
}

TEST(GraphReport, CountsDegreesAndSaysWhatRowsSumTo) {
    const GraphReport star = report_of(Topology::star, 6, "row-stochastic");
    EXPECT_EQ(star.degree_min, 1);
    EXPECT_EQ(star.degree_max, 5);
    EXPECT_FALSE(star.doubly_stochastic);
    EXPECT_NE(graph_report_text(star).find("row-stochastic (row-stochastic)"), std::string::npos);
}

TEST(GraphReport, SaysTheSameInJsonAndForPeople) {
    GraphReport report = report_of(Topology::path, 4, "metropolis");
    report.notes = {"a note"};
    const auto json = nlohmann::json::parse(graph_report_json(report));
    EXPECT_EQ(json.at("edges"), 3);
    EXPECT_EQ(json.at("notes")[0], "a note");
    EXPECT_EQ(json.at("graph_hash"), report.graph_hash);
    EXPECT_DOUBLE_EQ(json.at("spectral_gap").get<double>() + json.at("lambda2").get<double>(), 1);
    const std::string text = graph_report_text(report);
    for (const char* part : {"note     a note", "agents   4, 3 edges, connected, degree 1 to 2"})
        EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace
}  // namespace sotto
