#include "sotto/views/view_label.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

TEST(LabelOfObservers, BeginsASentence) {
    EXPECT_EQ(label_of_observers({}), "Whoever sees every message");
    EXPECT_EQ(label_of_observers({3}), "Agent 3");
    EXPECT_EQ(label_of_observers({2, 5}), "Agents 2, 5");
}

TEST(LabelOfAgent, HasTheNameOfAGraphFile) {
    const Graph labels = Graph::from_edges(2, {{0, 1}}, {"alba", "bruno"});
    EXPECT_EQ(label_of_agent(labels, 1), "1 (bruno)");
    EXPECT_EQ(label_of_agent(Graph::from_edges(2, {{0, 1}}), 1), "1");
}

}  // namespace
}  // namespace sotto
