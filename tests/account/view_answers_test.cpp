#include "account/view_answers.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "sotto/views/view_losses.hpp"

namespace sotto {
namespace {

TEST(Without, TakesMembersOut) {
    EXPECT_EQ(without({0, 1, 2, 5}, {1, 3, 5}), (std::vector<int>{0, 2}));
    EXPECT_EQ(without({4}, {}), std::vector<int>{4});
    EXPECT_TRUE(without({}, {1}).empty());
}

SubjectConfig decor_of_seven() {
    SubjectConfig config;
    config.graph.topology.agents = 7;
    config.graph.topology.edge_probability = 0.5;
    config.plan.mechanism = "decor";
    config.plan.utility = {Utility::Kind::horizon, 10};
    config.plan.rounds = 5;
    config.plan.noise_std = 1;
    return config;
}

Question about(View::Kind kind, std::vector<int> members, std::vector<int> targets) {
    Question question;
    question.view.kind = kind;
    question.view.members = std::move(members);
    question.targets = std::move(targets);
    return question;
}

TEST(Answer, IsThatOfTheViewInTheOrderOfTheQuestions) {
    for (const int threads : {1, 2}) {
        const auto network = make_memory_network(1, threads);
        const auto subject = build_account_subject(decor_of_seven(), *network);
        std::vector<Question> questions;
        questions.push_back(about(View::Kind::neighbours, {0}, {1, 4}));
        questions.push_back(about(View::Kind::all_messages, {}, {2}));
        questions.push_back(about(View::Kind::secure_sum, {3, 5}, {0, 1, 2}));
        ViewOptions options;
        options.threads = threads;
        const Answers answers = answer(*network, *subject, questions, options);
        ASSERT_EQ(answers.size(), questions.size());
        for (std::size_t i = 0; i < questions.size(); ++i) {
            const auto expected = view_losses(
                subject->process, subject->use, questions[i].view, questions[i].targets, {});
            ASSERT_EQ(answers[i].size(), expected.size());
            for (std::size_t t = 0; t < expected.size(); ++t) {
                EXPECT_EQ(answers[i][t].infinite, expected[t].infinite);
                EXPECT_EQ(answers[i][t].certified(), expected[t].certified());
            }
        }
    }
}

TEST(Answer, OfNoQuestionIsNone) {
    const auto network = make_memory_network(1, 1);
    const auto subject = build_account_subject(decor_of_seven(), *network);
    EXPECT_TRUE(answer(*network, *subject, {}, {}).empty());
}

}  // namespace
}  // namespace sotto
