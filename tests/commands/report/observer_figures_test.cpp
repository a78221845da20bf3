#include "commands/report/observer_figures.hpp"

#include "commands/report/report_fixtures.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

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

}  // namespace
}  // namespace sotto
