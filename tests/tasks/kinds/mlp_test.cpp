#include "tasks/kinds/mlp.hpp"

#include "tasks/task_fixtures.hpp"

namespace sotto {
namespace {

using test::build;
using test::expect_contains;
using test::message_of;

TaskConfig mlp_on(const std::string& data) {
    TaskConfig config = test::on(data);
    config.task = "mlp";
    return config;
}

/// Eight features; of classes 0 to 3, or of values.
std::string records(bool values) {
    std::string text;
    for (int i = 0; i < 40; ++i) {
        std::string row = values ? "" : std::to_string(i % 4);
        for (int j = 0; j < 8; ++j)
            row += (values ? "" : " " + std::to_string(j + 1) + ":") +
                   std::to_string(1 + (i * (j + 1)) % 11) + (values ? "," : "");
        text += row + (values ? std::to_string(i) : "") + "\n";
    }
    return text;
}

TEST(MlpTask, HasAsManyHiddenUnitsAsIsSaid) {
    const test::TemporaryFolder folder;
    for (const auto& [values, usual] : {std::pair(false, 128L), {true, 64L}}) {
        TaskConfig config = mlp_on(folder.write(values ? "v.csv" : "c.txt", records(values)));
        const auto dimension = [&](long hidden) {
            const long outputs = values ? 1 : 4;
            return hidden * (8 + 1) + outputs * (hidden + 1);
        };
        EXPECT_EQ(build(config, 2).initial.size(), dimension(usual));
        config.hidden = 5;
        EXPECT_EQ(build(config, 2).initial.size(), dimension(5));
    }
}

TEST(MlpTask, RefusesALayerWithoutUnits) {
    const test::TemporaryFolder folder;
    TaskConfig config = mlp_on(folder.write("c.txt", records(false)));
    for (const long hidden : {0L, -1L, 1000001L}) {
        config.hidden = hidden;
        expect_contains(message_of<ConfigError>([&] { (void)build(config, 1); }), "hidden");
    }
}

}  // namespace
}  // namespace sotto
