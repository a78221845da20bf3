#include "bad_input.hpp"

namespace sotto::test {
namespace {

struct OverMpi {
    BadInput input;
    int ranks;
};

std::ostream& operator<<(std::ostream& stream, const OverMpi& over) {
    return stream << over.input.name << " with " << over.ranks << " ranks";
}

class BadInputOverMpi : public testing::TestWithParam<OverMpi> {};

TEST_P(BadInputOverMpi, EndsEveryRankWithOneLine) {
    expect_refused(GetParam().input, GetParam().ranks);
}

// A launcher ends the job with the first rank that fails: what rank 0 has to say is not lost where
// the others are faster.
TEST(BadInputOfAJob, IsReportedByARankThatStartsLate) {
    const TempDir directory;
    struct Case {
        Arguments arguments;
        std::string mention;
    };
    for (const Case& bad : {Case{{"trian"}, "did you mean 'train'"},
                            Case{{}, "allowed: graph, "},
                            Case{{"train", "--epsilon", "x"}, "--epsilon"}}) {
        const Arguments late{"sh", "-c", "sleep 1; exec \"$@\"", "sh"};
        const Outcome outcome =
            Process(disagreeing_command(bad.arguments, bad.arguments, late), directory.path())
                .wait();
        EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
        const auto errors = error_lines(outcome.err);
        ASSERT_EQ(errors.size(), 1U) << outcome.text();
        EXPECT_NE(errors.front().find(bad.mention), std::string::npos) << errors.front();
    }
}

std::vector<OverMpi> placements() {
    std::vector<OverMpi> result;
    std::size_t turn = 0;
    for (const auto& input : bad_inputs()) {
        std::vector<int> ranks;
        switch (input.ranks) {
            case BadInput::Ranks::one:
                ranks = {std::vector<int>{1, 3, 5}[turn++ % 3]};
                break;
            case BadInput::Ranks::every:
                ranks = {1, 3, 5};
                break;
            case BadInput::Ranks::several:
                ranks = {std::vector<int>{3, 5}[turn++ % 2]};
                break;
            case BadInput::Ranks::only_several:
                ranks = {3, 5};
                break;
            case BadInput::Ranks::none:
                break;
        }
        for (const int count : ranks) result.push_back({input, count});
    }
    return result;
}

INSTANTIATE_TEST_SUITE_P(
    Everything, BadInputOverMpi, testing::ValuesIn(placements()), [](const auto& instance) {
        return instance.param.input.name + "_" + std::to_string(instance.param.ranks) + "_ranks";
    });

}  // namespace
}  // namespace sotto::test
