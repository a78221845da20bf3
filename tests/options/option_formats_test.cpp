#include "options/option_formats.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

TEST(RealText, IsTheShortestASpokenNumberHas) {
    EXPECT_EQ(real_text(1e-5), "1e-5");
    EXPECT_EQ(real_text(1e4), "1e4");
    EXPECT_EQ(real_text(0.05), "0.05");
    EXPECT_EQ(real_text(0.1), "0.1");
    EXPECT_EQ(real_text(300), "300");
    EXPECT_EQ(real_text(2048), "2048");
    EXPECT_EQ(real_text(0), "0");
    EXPECT_EQ(real_text(-1.5), "-1.5");
    EXPECT_EQ(real_text(1.0 / 3), "0.3333333333333333");
    EXPECT_EQ(real_text(1e300), "1e300");
    EXPECT_EQ(real_text(-1e-300), "-1e-300");
}

TEST(RealText, ReadsBackAsTheSameDouble) {
    std::mt19937_64 random(7);
    int finite = 0;
    for (int i = 0; i < 20000; ++i) {
        const double value = std::bit_cast<double>(random());
        if (!std::isnormal(value)) continue;
        ++finite;
        const double again = parse_real("x", real_text(value));
        ASSERT_EQ(std::bit_cast<std::uint64_t>(again), std::bit_cast<std::uint64_t>(value))
            << real_text(value);
    }
    EXPECT_GT(finite, 19000);
    for (const double value :
         {0.0, std::numeric_limits<double>::max(), std::numeric_limits<double>::min()})
        EXPECT_EQ(parse_real("x", real_text(value)), value);
    // What is too near to 0 to have all its digits is refused.
    EXPECT_THROW((void)parse_real("x", real_text(std::numeric_limits<double>::denorm_min())),
                 ConfigError);
}

TEST(RealFormats, RefuseWhatIsOutsideWithOptionValueAndRange) {
    const auto refusal = [](const OptionFormat<double>& format, const char* text) {
        return message_of<ConfigError>([&] { (void)format.read("--x", text); });
    };
    expect_contains(refusal(any_real(), "nan"), "--x");
    expect_contains(refusal(any_real(), "1.5z"), "1.5z");
    expect_contains(refusal(positive_real(), "0"), "above 0");
    expect_contains(refusal(real_between(1, 2), "2.5"), "2.5");
    for (const char* text : {"0", "1", "-1", "2"})
        expect_contains(refusal(real_inside_unit_interval(), text),
                        std::string("--x: ") + text + " is not allowed (must lie strictly");
    EXPECT_EQ(real_between(1, 2).read("--x", "2"), 2);
    EXPECT_EQ(positive_real().read("--x", "1e-300"), 1e-300);
    EXPECT_EQ(real_between(0, 1e9).allowed.text, "0 to 1e9");
}

TEST(WholeFormat, HasABottomAndATop) {
    const auto refusal = [](const OptionFormat<long long>& format, const char* text) {
        return message_of<ConfigError>([&] { (void)format.read("--x", text); });
    };
    expect_contains(refusal(whole(1), "0"), "--x: 0 is not allowed (must be at least 1)");
    expect_contains(refusal(whole(1, 100000), "4294967297"), "100000");
    expect_contains(refusal(whole(0), "1.5"), "1.5");
    EXPECT_EQ(whole(0).read("--x", "9007199254740993"), 9007199254740993);
    EXPECT_EQ(whole(0).write(9007199254740993), "9007199254740993");
    EXPECT_EQ(whole(0).allowed.text, "whole, at least 0");
    EXPECT_EQ(whole(1, 1000).allowed.text, "1 to 1000");
}

TEST(NumberFormats, SayTheirRange) {
    const auto range_of = [](const auto& format) { return format.allowed.range.value(); };
    EXPECT_EQ(range_of(real_between(1, 2)).minimum, 1);
    EXPECT_EQ(range_of(real_between(1, 2)).maximum, 2);
    EXPECT_TRUE(range_of(real_between(1, 2)).ends);
    EXPECT_FALSE(range_of(real_between(1, 2)).whole);
    EXPECT_EQ(range_of(positive_real()).minimum, 0);
    EXPECT_FALSE(range_of(positive_real()).ends);
    EXPECT_FALSE(range_of(real_inside_unit_interval()).ends);
    EXPECT_EQ(range_of(whole(1, 1000)).maximum, 1000);
    EXPECT_TRUE(range_of(whole(3)).whole);
    EXPECT_EQ(range_of(whole(3)).minimum, 3);
    EXPECT_EQ(range_of(any_real()).maximum, std::numeric_limits<double>::infinity());
    EXPECT_FALSE(any_text().allowed.range);
}

TEST(NumberOrWord, IsANumberOrNothingForAWord) {
    EXPECT_EQ(number_or_word("records", "12", {"all"}), 12);
    EXPECT_EQ(number_or_word("records", "all", {"auto", "all"}), std::nullopt);
    for (const char* text : {"0", "-3", "al", "", "1.5", "12x"})
        EXPECT_THROW((void)number_or_word("records", text, {"all"}), ConfigError) << text;
    expect_contains(message_of<ConfigError>([] { (void)number_or_word("records", "al", {"all"}); }),
                    "all");
}

TEST(Switches, AreOnOrOffAndFlagsTrueOrFalse) {
    EXPECT_TRUE(on_off().read("--x", "on"));
    EXPECT_EQ(on_off().write(false), "off");
    EXPECT_EQ(on_off().allowed.text, "on, off");
    EXPECT_EQ(on_off().kind, OptionKind::value);
    EXPECT_TRUE(flag().read("--x", "true"));
    EXPECT_EQ(flag().write(true), "true");
    EXPECT_EQ(flag().kind, OptionKind::flag);
    expect_contains(message_of<ConfigError>([] { (void)on_off().read("--x", "onn"); }),
                    "did you mean 'on'");
}

TEST(WordList, KeepsWordsThatHoldBlanks) {
    const std::vector<std::string> words{"plain", "with blank", "a\"quote", "0.5"};
    const std::string text = word_list().write(words);
    EXPECT_EQ(word_list().read("choose", text), words);
    EXPECT_EQ(word_list().write({"1", "2"}), "1 2");
    expect_contains(message_of<ConfigError>([] { (void)word_list().read("choose", " "); }),
                    "choose: a value is needed");
    expect_contains(message_of<ConfigError>([] { (void)word_list().read("choose", "1 2 1"); }),
                    "the value 1 is given twice");
}

TEST(PathList, MayNameOneTwice) {
    EXPECT_EQ(path_list().read("--runs", "a \"b c\" a"),
              (std::vector<std::string>{"a", "b c", "a"}));
    EXPECT_THROW((void)path_list().read("--runs", " "), ConfigError);
    EXPECT_THROW((void)word_list().read("--seed", "1 2 1"), ConfigError);
}

TEST(RealFormats, ApproveOfTheirOwnText) {
    for (const double value : {0.25, 1e-9, 0.999999})
        EXPECT_EQ(real_inside_unit_interval().read("--x", real_inside_unit_interval().write(value)),
                  value);
}

TEST(SomeText, IsAnyButNone) {
    EXPECT_EQ(some_text().read("task", "cnn"), "cnn");
    expect_contains(message_of<ConfigError>([] { (void)some_text().read("task", ""); }),
                    "task: a value is needed");
}

TEST(AgentNumbers, AreSortedAndReadBack) {
    EXPECT_EQ(parse_agent_numbers("--without", "7,2,11"), (std::vector<int>{2, 7, 11}));
    EXPECT_EQ(agent_numbers_text({2, 7, 11}), "2,7,11");
    EXPECT_EQ(agent_numbers_text({}), "");
    EXPECT_TRUE(parse_agent_numbers("--without", "").empty());
}

TEST(AgentNumbers, RefuseWordsRepetitionsAndNegativeNumbers) {
    const auto refusal = [](const char* text) {
        return message_of<ConfigError>([&] { (void)parse_agent_numbers("--without", text); });
    };
    expect_contains(refusal("1,1"), "--without: agent 1 is named twice");
    expect_contains(refusal("x"), "--without");
    expect_contains(refusal("-1"), "-1");
    expect_contains(refusal("1,,2"), "--without");
}

TEST(RecordedNames, AreAgentsAndTheEavesdropper) {
    const RecordedNames names = parse_recorded_names("--record-view", "5,eavesdropper,2");
    EXPECT_EQ(names.agents, (std::vector<int>{2, 5}));
    EXPECT_TRUE(names.wire);
    EXPECT_EQ(recorded_names_text(names), "2,5,eavesdropper");
    EXPECT_EQ(recorded_names_text({{}, true}), "eavesdropper");
    EXPECT_EQ(recorded_names_text({{3}, false}), "3");
    EXPECT_EQ(recorded_names_text({}), "");
}

TEST(RecordedNames, RefuseWhatIsNeither) {
    const auto refusal = [](const char* text) {
        return message_of<ConfigError>([&] { (void)parse_recorded_names("--record-view", text); });
    };
    expect_contains(refusal("eavesdroper"), "'eavesdroper' is neither an agent's number nor");
    expect_contains(refusal("eavesdropper,eavesdropper"), "eavesdropper is named twice");
    expect_contains(refusal("0,0"), "agent 0 is named twice");
    expect_contains(refusal(","), "''");
    expect_contains(refusal(""), "no agent is named");
}

TEST(NetworkSpec, IsALatencyAndABandwidthAndMayNameHostsAndRanks) {
    EXPECT_EQ(parse_network("network", "10ms:100Mbit"),
              (NetworkSpec{0.01, 1e8, std::nullopt, std::nullopt}));
    EXPECT_EQ(parse_network("network", "50us:2.5Gbit:100:10000"),
              (NetworkSpec{5e-5, 2.5e9, 100, 10000}));
    EXPECT_EQ(parse_network("network", "0s:8kbit:2"), (NetworkSpec{0, 8e3, 2, std::nullopt}));
}

TEST(NetworkSpec, IsWrittenAsItIsRead) {
    for (const char* text : {"10ms:100Mbit", "50us:25Gbit:100:10000", "1s:1bit:3"}) {
        const NetworkSpec spec = parse_network("network", text);
        EXPECT_EQ(parse_network("network", name_of(spec)), spec) << name_of(spec);
    }
}

TEST(NetworkSpec, RefusesWhatIsNone) {
    for (const char* text : {"",
                             "10ms",
                             "10:100Mbit",
                             "10ms:100",
                             "ms:1bit",
                             "-1ms:1bit",
                             "1ms:0bit",
                             "1ms:1bit:0",
                             "1ms:1bit:2:x",
                             "1ms:1bit:2:3:4",
                             "nanms:1bit",
                             "2h:1bit",
                             "4000s:1bit"})
        test::expect_contains(
            test::message_of<ConfigError>([&] { (void)parse_network("network", text); }),
            "network");
}

}  // namespace
}  // namespace sotto
