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
    const auto gaussian = StreamDistribution::gaussian, laplace = StreamDistribution::laplace;
    expect(argument_of(all, false, gaussian), "all messages seen", true);
    expect(argument_of(some, false, gaussian), "non-adaptive ([U] Theorem 8)", false);
    expect(argument_of({View::Kind::secure_sum, {1}}, true, gaussian),
           "exact, inputs fixed in advance",
           true);
    for (const bool fixed : {false, true}) {
        expect(argument_of(all, fixed, laplace), "all messages seen", true);
        expect(argument_of(some, fixed, laplace), "bound: all messages seen", true);
    }
}

}  // namespace
}  // namespace sotto
