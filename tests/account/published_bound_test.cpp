#include "account/published_bound.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "account/bounds/bound_fixtures.hpp"

namespace sotto {
namespace {

TEST(PublishedBounds, SayWhoseTheyAreAndAreOfOneKind) {
    std::set<std::string> titles;
    for (const PublishedBound& bound : published_bounds().records()) {
        SCOPED_TRACE(bound.name);
        EXPECT_TRUE(bound.name.ends_with("_bound"));
        EXPECT_LE(bound.title.size(), 10U);
        EXPECT_TRUE(titles.insert(bound.title).second);
        // Of one of the five papers with its theorem, or authors and year.
        EXPECT_TRUE(std::regex_match(
            bound.source,
            std::regex(R"(\[[A-Z]\] (Theorem|Lemma|Corollary) \d+|[A-Z].* et al\. \d{4})")))
            << bound.source;
        EXPECT_GT(bound.says.size(), 20U);
        EXPECT_NE(bound.of_view == nullptr, bound.of_training == nullptr);
    }
    EXPECT_EQ(view_bounds().size() + training_bounds().size(), published_bounds().records().size());
    EXPECT_EQ(view_bounds().front()->name, "muffliato_bound");
    EXPECT_EQ(training_bounds().front()->name, "disagreement_bound");
}

TEST(BoundsOfTraining, AreThoseThatApply) {
    test::CancellingTraining training("homomorphic");
    EXPECT_EQ(bounds_of_training(training.input()).size(), 1U);
    training.smoothness = 1;
    const auto figures = bounds_of_training(training.input());
    ASSERT_EQ(figures.size(), 3U);
    for (const TrainingBoundFigure& figure : figures)
        EXPECT_EQ(figure.value, figure.bound->of_training(training.input()).value());
    EXPECT_TRUE(bounds_of_training(test::CancellingTraining("pairs").input()).empty());
}

}  // namespace
}  // namespace sotto
