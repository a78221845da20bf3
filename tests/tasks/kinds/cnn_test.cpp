#include "tasks/kinds/cnn.hpp"

#include "tasks/task_fixtures.hpp"

namespace sotto {
namespace {

using test::build;
using test::expect_contains;
using test::message_of;

/// Records of three classes with this many features.
TaskConfig images_of(const test::TemporaryFolder& folder, int features) {
    std::string text;
    for (int i = 0; i < 30; ++i)
        text += std::to_string(i % 3) + " " + std::to_string(i % (features - 1) + 1) + ":1 " +
                std::to_string(features) + ":0.5\n";
    TaskConfig config = test::on(folder.write("data" + std::to_string(features), text));
    config.task = "cnn";
    return config;
}

TEST(CnnTask, TakesASquareNumberOfFeaturesForAnImage) {
    const test::TemporaryFolder folder;
    // 3 x 3 to 16 channels with their norm, the same to 32, and a dense layer from a quarter of a
    // quarter of the image.
    const auto dimension = [](int side, int classes) {
        return 16 * 9 + 16 + 32 + 32 * 16 * 9 + 32 + 64 +
               classes * (32 * (side / 4) * (side / 4) + 1);
    };
    for (const int side : {4, 8})
        EXPECT_EQ(build(images_of(folder, side * side), 2).initial.size(), dimension(side, 3));
}

TEST(CnnTask, RefusesWhatIsNoImage) {
    const test::TemporaryFolder folder;
    expect_contains(message_of<DataError>([&] { (void)build(images_of(folder, 15), 1); }),
                    "15 features are no image");
}

}  // namespace
}  // namespace sotto
