#include "commands/report/observer_words.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

using Names = std::array<std::string, 3>;

TEST(ObserverWords, AreNamedAsTheAccountantIsAsked) {
    const Graph graph = Graph::from_edges(3, {{0, 1}, {1, 2}});
    const ObserverWords all = observer_words(View::Kind::all_messages, graph),
                        some = observer_words(View::Kind::neighbours, graph),
                        sums = observer_words(View::Kind::secure_sum, graph);
    EXPECT_EQ(all.names, (Names{"eavesdropper", "all-messages", "all-messages"}));
    EXPECT_EQ(some.names, (Names{"", "node", "coalition"}));
    EXPECT_EQ(sums.names, (Names{"", "secure-sum", "secure-sum"}));
}

TEST(ObserverWords, SayWhatTheySeeAndKnow) {
    const Graph graph = Graph::from_edges(3, {{0, 1}, {1, 2}});
    const ObserverWords all = observer_words(View::Kind::all_messages, graph),
                        some = observer_words(View::Kind::neighbours, graph),
                        sums = observer_words(View::Kind::secure_sum, graph);
    EXPECT_EQ(all.sees, "every message of every agent");
    EXPECT_EQ(some.sees, "what their neighbours send to them");
    EXPECT_EQ(sums.sees, "weighted sums of what their neighbours send (secure sums)");
    EXPECT_EQ(all.nobody, "Whoever records every message");
    EXPECT_EQ(some.one_knows, ", from what its neighbours send and its seeds,");
    EXPECT_EQ(sums.several_know, ", from sums of what their neighbours send and their seeds,");
    EXPECT_EQ(sums.one, some.one);
}

}  // namespace
}  // namespace sotto
