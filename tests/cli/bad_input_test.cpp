#include "bad_input.hpp"

namespace sotto::test {
namespace {

class BadInputAlone : public testing::TestWithParam<BadInput> {};

TEST_P(BadInputAlone, IsRefusedWithOneLine) { expect_refused(GetParam(), one_process); }

std::vector<BadInput> possible_alone() {
    std::vector<BadInput> inputs = bad_inputs();
    std::erase_if(inputs,
                  [](const auto& bad) { return bad.ranks == BadInput::Ranks::only_several; });
    return inputs;
}

INSTANTIATE_TEST_SUITE_P(Everything,
                         BadInputAlone,
                         testing::ValuesIn(possible_alone()),
                         [](const auto& instance) { return instance.param.name; });

TEST(EdgeListOfTwoParts, IsReducedToTheLargerOneAndSaysSo) {
    const TempDir directory;
    const std::string path = directory.write("parts.edges", "a b\nb c\nc a\nx y\n");
    const Outcome outcome =
        run_sotto(directory, one_process, {"graph", "--graph", path, "--json", "-"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json.at("agents"), 3);
    EXPECT_EQ(json.at("edges"), 3);
    EXPECT_EQ(json.at("connected"), true);
    EXPECT_NE(outcome.err.find("2 components"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("3 of 5 agents"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace sotto::test
