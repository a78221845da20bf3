#include "sotto/core/registry.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"

namespace sotto {
namespace {

struct Shape {
    std::string name;
    int corners = 0;
};

Registry<Shape>& shapes() {
    static Registry<Shape> table("shape", {{"triangle", 3}, {"square", 4}});
    return table;
}

const Registered<Shape> pentagon(shapes(), {"pentagon", 5});

TEST(Registry, FindsWhatStandsInItsTableAndWhatWasAddedElsewhere) {
    EXPECT_EQ(shapes().find("--shape", "square").corners, 4);
    EXPECT_EQ(shapes().find("--shape", "pentagon").corners, 5);
    EXPECT_EQ(shapes().names(), (std::vector<std::string>{"triangle", "square", "pentagon"}));
    EXPECT_EQ(shapes().look_up("circle"), nullptr);
}

TEST(Registry, SuggestsTheNearestName) {
    try {
        (void)shapes().find("--shape", "sqare");
        FAIL() << "an unknown name was found";
    } catch (const ConfigError& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find("--shape"), std::string::npos) << message;
        EXPECT_NE(message.find("square"), std::string::npos) << message;
    }
}

TEST(Registry, RefusesASecondRecordOfTheSameName) {
    Registry<Shape> table("shape", {{"triangle", 3}});
    EXPECT_THROW(table.add({"triangle", 3}), Error);
    EXPECT_THROW((Registry<Shape>("shape", {{"a", 1}, {"a", 2}})), Error);
}

TEST(Registry, KeepsReferencesValidWhenMoreAreAdded) {
    Registry<Shape> table("shape", {{"triangle", 3}});
    const Shape& triangle = table.find("", "triangle");
    for (int i = 0; i < 1000; ++i) table.add({std::to_string(i), i});
    EXPECT_EQ(&triangle, table.look_up("triangle"));
    EXPECT_EQ(triangle.corners, 3);
}

}  // namespace
}  // namespace sotto
