#include "account/view_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/views/view_losses.hpp"

namespace sotto {

namespace {

/// The questions of one process.
std::vector<std::size_t> share_of(const Network& network,
                                  std::size_t questions,
                                  std::size_t process) {
    std::vector<std::size_t> mine;
    for (std::size_t i = process; i < questions; i += static_cast<std::size_t>(network.processes()))
        mine.push_back(i);
    return mine;
}

/// Answers of these questions; nothing for the others.
Answers answer_share(const std::vector<std::size_t>& mine,
                     const AccountSubject& subject,
                     const std::vector<Question>& questions,
                     const ViewOptions& all_options) {
    // One observer has the machine to itself; many have a core each.
    const bool many = mine.size() > 1;
    ViewOptions options = all_options;
    options.threads = many ? 1 : all_options.threads;
    Answers answers(questions.size());
    parallel_for(static_cast<long>(mine.size()), many ? all_options.threads : 1, [&](long k) {
        const std::size_t i = mine[static_cast<std::size_t>(k)];
        answers[i] = view_losses(
            subject.process, subject.use, questions[i].view, questions[i].targets, options);
    });
    return answers;
}

/// The figures of an answer in the order in which they are sent.
template <class Squared>
auto figures_of(Squared& value) {
    return std::array{&value.constant_sign,
                      &value.abs_sum,
                      &value.tight_lower,
                      &value.tight_upper,
                      &value.trivial};
}

std::string packed(const Answers& answers, const std::vector<std::size_t>& mine) {
    ByteWriter writer;
    for (const std::size_t i : mine)
        for (const SquaredSensitivity& value : answers[i]) {
            writer.put(static_cast<std::uint8_t>(value.infinite ? 1 : 0));
            for (const double* number : figures_of(value)) writer.put(*number);
        }
    return writer.take();
}

/// Of one process that has all questions.
std::uint64_t largest_answers_bytes(const std::vector<Question>& questions) {
    std::uint64_t targets = 0;
    for (const Question& question : questions) targets += question.targets.size();
    SquaredSensitivity value;
    return targets * (sizeof(std::uint8_t) + figures_of(value).size() * sizeof(double));
}

SquaredSensitivity read_answer(ByteReader& reader) {
    SquaredSensitivity value;
    value.infinite = reader.get<std::uint8_t>() != 0;
    for (double* number : figures_of(value)) *number = reader.get<double>();
    return value;
}

}  // namespace

Answers answer(Network& network,
               const AccountSubject& subject,
               const std::vector<Question>& questions,
               const ViewOptions& options) {
    const auto mine =
        share_of(network, questions.size(), static_cast<std::size_t>(network.process()));
    Answers answers;
    network.agree([&] { answers = answer_share(mine, subject, questions, options); });
    if (network.processes() == 1) return answers;
    const auto all = network.all_gather(packed(answers, mine), largest_answers_bytes(questions));
    network.agree([&] {
        for (std::size_t p = 0; p < all.size(); ++p) {
            ByteReader reader(all[p], fmt::format("the answers of rank {}", p));
            for (const std::size_t i : share_of(network, questions.size(), p)) {
                answers[i].clear();
                for (std::size_t t = 0; t < questions[i].targets.size(); ++t)
                    answers[i].push_back(read_answer(reader));
            }
            reader.require_done();
        }
    });
    return answers;
}

std::vector<int> without(const std::vector<int>& targets, const std::vector<int>& members) {
    std::vector<int> rest;
    std::ranges::set_difference(targets, members, std::back_inserter(rest));
    return rest;
}

}  // namespace sotto
