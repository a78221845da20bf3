#include "commands/report/observer_figures.hpp"

#include <gtest/gtest.h>

#include "commands/report/report_fixtures.hpp"
#include "config/run_fixtures.hpp"
#include "privacy/protection.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

TEST(ObserverFigures, AreBlankButSayWhoObservesAndWhyFiguresHold) {
    const test::TemporaryFolder folder;
    const RecordedRun run = test::recorded_run(test::quadratic_config(4, "decor", 10), folder, 4);
    const ObserverFigures all = blank_figures(run, View::Kind::all_messages, 0);
    EXPECT_EQ(all.kind, View::Kind::all_messages);
    EXPECT_EQ(all.agents, 4);
    EXPECT_EQ(all.smallest, 0);
    EXPECT_EQ(all.observers, 0);
    EXPECT_TRUE(all.epsilon.empty());
    EXPECT_EQ(all.argument.text, "all messages seen");
    EXPECT_TRUE(all.argument.sound);
    const ObserverFigures partial = blank_figures(run, View::Kind::neighbours, 1);
    EXPECT_EQ(partial.smallest, 1);
    EXPECT_EQ(partial.argument.text, "non-adaptive ([U] Theorem 8)");
    EXPECT_FALSE(partial.argument.sound) << "gradients of a training follow messages";
}

TEST(ObserverFigures, KeepTheirOrderWhateverTheThreadsAndEndInTime) {
    const std::vector<std::vector<int>> observers{{}, {0}, {1}, {2}, {0, 1}};
    const auto row = [](const std::vector<int>& members) {
        return std::vector<float>{static_cast<float>(members.size()), 1};
    };
    for (const int threads : {1, 3}) {
        ObserverFigures figures;
        add_observers(figures, observers, test::in_seconds(1000), threads, row);
        EXPECT_EQ(figures.observers, 5);
        EXPECT_EQ(figures.epsilon, (std::vector<float>{0, 1, 1, 1, 1, 1, 1, 1, 2, 1}));
        add_observers(figures, observers, test::in_seconds(-1), threads, row);
        EXPECT_EQ(figures.observers, 5) << "only the first of all is there in any case";
        ObserverFigures none;
        add_observers(none, observers, test::in_seconds(-1), threads, row);
        EXPECT_EQ(none.observers, 1);
    }
}

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

TEST(ShownObservers, AreAsManySizesAsAPageHolds) {
    for (const int agents : {2, 5, 12, 20, 40, 100}) {
        const int largest = largest_shown_coalition(agents, {});
        double count = 1, more = 0;
        for (int size = 1; size <= largest; ++size) count += count_coalitions(agents, size);
        EXPECT_LE(count, most_observers) << agents;
        if (largest + 1 < agents) {
            more = count + count_coalitions(agents, largest + 1);
            EXPECT_TRUE(more > most_observers || more * agents * agents * agents > 1e10) << agents;
        }
    }
    EXPECT_EQ(largest_shown_coalition(20, {}), 4);
    EXPECT_EQ(largest_shown_coalition(100, {}), 2);
    EXPECT_EQ(largest_shown_coalition(1000, {}), 1);
    EXPECT_EQ(largest_shown_coalition(1, {}), 0);
    EXPECT_EQ(largest_shown_coalition(100000, {}), 0) << "each is too much work";
}

TEST(ShownObservers, AreOfTheSizeThatIsAskedFor) {
    EXPECT_EQ(largest_shown_coalition(20, 7), 7);
    for (const int size : {-1, 4})
        expect_contains(message_of<ConfigError>([&] { (void)largest_shown_coalition(4, size); }),
                        "is not allowed (0 to 3");
}

TEST(ShownObservers, GoBySizeThenByNumbers) {
    using List = std::vector<std::vector<int>>;
    EXPECT_EQ(coalitions_by_size(3, 0, 2), (List{{}, {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}}));
    EXPECT_EQ(coalitions_by_size(3, 1, 1), (List{{0}, {1}, {2}}));
    EXPECT_TRUE(coalitions_by_size(3, 1, 0).empty());
}

}  // namespace
}  // namespace sotto
