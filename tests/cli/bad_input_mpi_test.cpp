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
