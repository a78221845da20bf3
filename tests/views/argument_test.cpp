#include "sotto/views/argument.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

TEST(ArgumentOf, IsSoundForTrainingOnlyWithAllMessages) {
    const View all{View::Kind::all_messages, {}}, some{View::Kind::neighbours, {1}};
    const auto expect = [](const Argument& argument, const std::string& text, bool sound) {
        EXPECT_EQ(argument.text, text);
        EXPECT_EQ(argument.sound, sound) << text;
    };
    expect(argument_of(all, false, false), "all messages seen", true);
    expect(argument_of(some, false, false), "non-adaptive ([U] Theorem 8)", false);
    expect(argument_of({View::Kind::secure_sum, {1}}, true, false),
           "exact, inputs fixed in advance",
           true);
    for (const bool fixed : {false, true}) {
        expect(argument_of(all, fixed, true), "all messages seen", true);
        expect(argument_of(some, fixed, true), "bound: all messages seen", true);
    }
}

}  // namespace
}  // namespace sotto
