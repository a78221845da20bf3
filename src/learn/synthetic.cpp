#include "sotto/learn/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/seeded_random.hpp"

namespace sotto {
namespace {

/// Categories of each group, as in a9a: age, work class, weight, education, its years, marital
/// status, occupation, relationship, race, sex, capital gain, capital loss, hours, country.
constexpr std::array<int, 14> group_sizes{5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41};

struct RuleTerm {
    std::size_t group;
    int category;
    double weight;
};

/// The rule: log-odds of label +1 are the intercept plus the weights of the categories a record
/// has. Most columns have no weight.
constexpr std::array<RuleTerm, 18> rule{{{0, 0, -1.8},
                                         {0, 1, 0.5},
                                         {0, 2, 0.7},
                                         {3, 0, -0.9},
                                         {3, 2, 1.1},
                                         {3, 4, 1.4},
                                         {5, 0, 1.6},
                                         {5, 1, -1.4},
                                         {6, 0, 0.7},
                                         {6, 2, -1.1},
                                         {6, 3, 0.9},
                                         {7, 1, -0.7},
                                         {9, 1, -0.7},
                                         {10, 1, 1.8},
                                         {11, 1, 0.9},
                                         {12, 0, -0.6},
                                         {12, 1, 0.7},
                                         {13, 1, -0.5}}};
constexpr double intercept = -2.2;
constexpr Eigen::Index most_records = 100'000'000;  // values are counted in 32 bits

void require_possible(Eigen::Index records) {
    if (!(records >= 1 && records <= most_records))
        throw ConfigError(fmt::format(
            "synthetic data of {} records: must be from 1 to {}", records, most_records));
}

}  // namespace

Dataset synthetic_binary(Eigen::Index records, std::uint64_t seed) {
    require_possible(records);
    constexpr int groups = static_cast<int>(group_sizes.size());
    // Zipf's law: category k of a group has probability proportional to 1 / (k + 1).
    std::vector<std::vector<double>> cumulative;
    std::vector<std::vector<double>> weights;
    int columns = 0;
    for (const int size : group_sizes) {
        std::vector<double> sums;
        double total = 0;
        for (int k = 0; k < size; ++k) sums.push_back(total += 1.0 / (k + 1));
        for (double& sum : sums) sum /= total;
        cumulative.push_back(std::move(sums));
        weights.emplace_back(static_cast<std::size_t>(size), 0.0);
        columns += size;
    }
    for (const RuleTerm& term : rule)
        weights[term.group][static_cast<std::size_t>(term.category)] = term.weight;

    Dataset data;
    data.source = "synthetic";
    data.labels.resize(records);
    data.features.resize(records, columns);
    data.features.resizeNonZeros(records * groups);
    std::fill_n(data.features.valuePtr(), records * groups, 1.0);
    SeededRandom random(seed, "synthetic-binary");
    int* column = data.features.innerIndexPtr();
    for (Eigen::Index row = 0; row < records; ++row) {
        double log_odds = intercept;
        int first_column = 0;
        for (std::size_t group = 0; group < group_sizes.size(); ++group) {
            const std::vector<double>& sums = cumulative[group];
            const double draw = random.uniform();
            std::size_t category = 0;
            while (category + 1 < sums.size() && draw >= sums[category]) ++category;
            log_odds += weights[group][category];
            *column++ = first_column + static_cast<int>(category);
            first_column += group_sizes[group];
        }
        data.features.outerIndexPtr()[row + 1] = static_cast<int>((row + 1) * groups);
        data.labels[row] = random.uniform() * (1 + std::exp(-log_odds)) < 1 ? 1 : -1;
    }
    return data;
}

Dataset synthetic_values(Eigen::Index records, std::uint64_t seed) {
    require_possible(records);
    constexpr Eigen::Index numbers = 8;
    const double longest = 1 / std::sqrt(static_cast<double>(numbers));
    RealRows values(records, numbers);
    SeededRandom random(seed, "synthetic-values");
    for (Eigen::Index row = 0; row < records; ++row)
        for (Eigen::Index k = 0; k < numbers; ++k) values(row, k) = longest * random.uniform();
    Dataset data;
    data.source = "synthetic";
    data.dense = std::move(values);
    data.labels = Eigen::VectorXd::Ones(records);
    return data;
}

}  // namespace sotto
