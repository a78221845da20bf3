#include "run/view_answers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/views/view_losses.hpp"

namespace sotto {

Answers answer(Network& network,
               const AccountSubject& subject,
               const std::vector<Question>& questions,
               const ViewOptions& all_options) {
    const int threads = all_options.threads;
    const auto processes = static_cast<std::size_t>(network.processes());
    std::vector<std::size_t> mine;
    for (auto i = static_cast<std::size_t>(network.process()); i < questions.size(); i += processes)
        mine.push_back(i);
    Answers answers(questions.size());
    network.agree([&] {
        // One observer has the machine to itself; many have a core each.
        const bool many = mine.size() > 1;
        ViewOptions options = all_options;
        options.threads = many ? 1 : threads;
        set_linear_algebra_threads(options.threads);
        parallel_for(static_cast<long>(mine.size()), many ? threads : 1, [&](long k) {
            const std::size_t i = mine[static_cast<std::size_t>(k)];
            answers[i] = view_losses(
                subject.process, subject.use, questions[i].view, questions[i].targets, options);
        });
        set_linear_algebra_threads(threads);
    });
    if (processes == 1) return answers;
    ByteWriter writer;
    for (const std::size_t i : mine)
        for (const SquaredSensitivity& value : answers[i]) {
            writer.put(static_cast<std::uint8_t>(value.infinite ? 1 : 0));
            for (const double number : {value.constant_sign,
                                        value.abs_sum,
                                        value.tight_lower,
                                        value.tight_upper,
                                        value.trivial})
                writer.put(number);
        }
    const auto all = network.all_gather(writer.take());
    network.agree([&] {
        for (std::size_t p = 0; p < processes; ++p) {
            ByteReader reader(all[p], fmt::format("the answers of rank {}", p));
            for (std::size_t i = p; i < questions.size(); i += processes) {
                answers[i].resize(questions[i].targets.size());
                for (SquaredSensitivity& value : answers[i]) {
                    value.infinite = reader.get<std::uint8_t>() != 0;
                    for (double* number : {&value.constant_sign,
                                           &value.abs_sum,
                                           &value.tight_lower,
                                           &value.tight_upper,
                                           &value.trivial})
                        *number = reader.get<double>();
                }
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
