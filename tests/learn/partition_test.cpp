#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>

#include "core/numbers.hpp"
#include "core/temporary_folder.hpp"
#include "learn/reader_fixtures.hpp"
#include "learn/readers.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto {
namespace {

using test::all_rows;
using test::random_real_data;

using Rows = std::vector<Eigen::Index>;
using Kind = PartitionSpec::Kind;

Eigen::VectorXd cyclic_labels(Eigen::Index records, int classes) {
    Eigen::VectorXd labels(records);
    for (Eigen::Index i = 0; i < records; ++i)
        labels[i] = static_cast<double>((i * i + i) % classes);
    return labels;
}

PartitionSpec dirichlet(double alpha) { return {.kind = Kind::dirichlet, .alpha = alpha}; }
PartitionSpec by_label(int k) { return {.kind = Kind::by_label, .labels_per_agent = k}; }

TEST(Partition, DealsEveryRowToExactlyOneAgentAndNoneIsEmpty) {
    for (const Eigen::Index records : {40, 41, 1000})
        for (const int agents : {1, 2, 7, 20})
            for (const PartitionSpec& spec : {PartitionSpec{},
                                              dirichlet(1e-4),
                                              dirichlet(0.1),
                                              dirichlet(10),
                                              dirichlet(1e9),
                                              by_label(1),
                                              by_label(2)})
                for (const std::uint64_t seed : {1U, 2U, 3U}) {
                    // A subset of rows, as after a split: every third one is held out.
                    Rows rows;
                    for (Eigen::Index row = 0; row < 2 * records; ++row)
                        if (row % 2 == 0) rows.push_back(row);
                    const auto shards =
                        partition_rows(rows, cyclic_labels(2 * records, 5), agents, spec, seed);
                    ASSERT_EQ(shards.size(), static_cast<std::size_t>(agents));
                    Rows together;
                    for (const Rows& shard : shards) {
                        EXPECT_FALSE(shard.empty());
                        EXPECT_TRUE(std::is_sorted(shard.begin(), shard.end()));
                        together.insert(together.end(), shard.begin(), shard.end());
                    }
                    std::sort(together.begin(), together.end());
                    EXPECT_EQ(together, rows) << name_of(spec) << ", seed " << seed;
                }
}

TEST(Partition, ByWriterGivesEveryAgentAllRecordsOfSoManyWritersAndNoOther) {
    const Eigen::Index records = 500;
    std::vector<int> writers;
    for (Eigen::Index i = 0; i < records; ++i) writers.push_back(static_cast<int>(i * i % 37));
    const Rows rows = all_rows(records);
    for (const int agents : {1, 3, 5})
        for (const int each : {1, 2, 3})
            for (const std::uint64_t seed : {1U, 2U}) {
                const PartitionSpec spec{.kind = Kind::by_writer, .writers_per_agent = each};
                const auto shards = partition_rows(
                    rows, Eigen::VectorXd::Zero(records), agents, spec, seed, writers);
                std::set<int> dealt;
                for (const Rows& shard : shards) {
                    std::set<int> own;
                    for (const auto row : shard) own.insert(writers[static_cast<std::size_t>(row)]);
                    EXPECT_EQ(own.size(), static_cast<std::size_t>(each));
                    std::size_t all = 0;
                    for (const int writer : writers) all += own.count(writer);
                    EXPECT_EQ(shard.size(), all) << "every record of its writers";
                    dealt.insert(own.begin(), own.end());
                }
                EXPECT_EQ(dealt.size(), static_cast<std::size_t>(agents * each)) << "disjoint";
            }
    // 37 is a prime, and squares modulo it take 19 values.
    const PartitionSpec ten{.kind = Kind::by_writer};
    const Eigen::VectorXd labels = Eigen::VectorXd::Zero(records);
    EXPECT_NO_THROW((void)partition_rows(rows, labels, 1, ten, 1, writers));
    EXPECT_THROW((void)partition_rows(rows, labels, 2, ten, 1, writers), DataError);
    EXPECT_THROW((void)partition_rows(rows, labels, 1, ten, 1), DataError);
    EXPECT_EQ(parse_partition("--partition", "by-writer").writers_per_agent, 10);
    EXPECT_EQ(name_of(parse_partition("--partition", "by-writer:3")), "by-writer:3");
    EXPECT_THROW((void)parse_partition("--partition", "by-writer:0"), ConfigError);
}

TEST(Partition, IsDeterministicInTheSeed) {
    const Rows rows = all_rows(300);
    const Eigen::VectorXd labels = cyclic_labels(300, 2);
    for (const PartitionSpec& spec : {PartitionSpec{}, dirichlet(1), by_label(2)}) {
        const auto first = partition_rows(rows, labels, 6, spec, 1);
        EXPECT_EQ(first, partition_rows(rows, labels, 6, spec, 1));
        EXPECT_NE(first, partition_rows(rows, labels, 6, spec, 2));
    }
}

TEST(Partition, IidShardsDifferInSizeByAtMostOne) {
    for (const Eigen::Index records : {20, 99, 1234}) {
        const auto shards =
            partition_rows(all_rows(records), cyclic_labels(records, 3), 20, PartitionSpec{}, 4);
        const auto [smallest, largest] =
            std::minmax_element(shards.begin(), shards.end(), [](const Rows& a, const Rows& b) {
                return a.size() < b.size();
            });
        EXPECT_LE(largest->size() - smallest->size(), 1U);
    }
}

TEST(Partition, DirichletSharesHaveTheirMeanAndVariance) {
    // A share of Dirichlet(alpha, ..., alpha) over n agents has mean 1/n and variance
    // (n - 1) / (n^2 (n alpha + 1)).
    constexpr std::uint64_t first_seed = 100;
    constexpr int agents = 5, draws = 600;
    constexpr Eigen::Index records = 1000;
    const Rows rows = all_rows(records);
    Eigen::VectorXd labels(records);
    for (Eigen::Index i = 0; i < records; ++i) labels[i] = i < 500 ? -1 : 1;
    for (const double alpha : {0.5, 1.0, 10.0}) {
        Eigen::MatrixXd shares(draws, agents);  // of label +1
        for (int draw = 0; draw < draws; ++draw) {
            const auto shards = partition_rows(
                rows, labels, agents, dirichlet(alpha), first_seed + static_cast<unsigned>(draw));
            for (int agent = 0; agent < agents; ++agent) {
                const Rows& shard = shards[static_cast<std::size_t>(agent)];
                const auto count = std::count_if(
                    shard.begin(), shard.end(), [&](Eigen::Index row) { return labels[row] > 0; });
                shares(draw, agent) = static_cast<double>(count) / 500;
            }
        }
        const double n = agents, mean = 1 / n;
        const double variance = (n - 1) / (n * n * (n * alpha + 1));
        const double mean_error = std::sqrt(variance / draws);
        for (int agent = 0; agent < agents; ++agent)
            EXPECT_NEAR(shares.col(agent).mean(), mean, 5 * mean_error)
                << "alpha " << alpha << ", agent " << agent << ", seeds from " << first_seed;
        const Eigen::ArrayXXd squares = (shares.array() - mean).square();
        for (int agent = 0; agent < agents; ++agent) {
            const Eigen::ArrayXd column = squares.col(agent);
            const double error =
                std::sqrt((column - column.mean()).square().sum() / (draws - 1) / draws);
            EXPECT_NEAR(column.mean(), variance, 5 * error + 1e-4)
                << "alpha " << alpha << ", agent " << agent << ", seeds from " << first_seed;
        }
    }
}

TEST(Partition, ByLabelGivesEveryAgentFewLabels) {
    constexpr int classes = 10, agents = 20;
    const Eigen::Index records = 4000;
    Eigen::VectorXd labels(records);
    for (Eigen::Index i = 0; i < records; ++i) labels[i] = static_cast<double>((i * 7) % classes);
    for (const int k : {1, 2, 3}) {
        const auto shards = partition_rows(all_rows(records), labels, agents, by_label(k), 9);
        double total = 0;
        for (const Rows& shard : shards) {
            std::set<double> distinct;
            for (const auto row : shard) distinct.insert(labels[row]);
            // A run may cross from one label to the next.
            EXPECT_LE(distinct.size(), static_cast<std::size_t>(2 * k));
            EXPECT_NEAR(static_cast<double>(shard.size()), 1.0 * records / agents, k);
            total += static_cast<double>(distinct.size());
        }
        // At most classes-1 runs cross.
        EXPECT_LE(total, agents * k + classes - 1);
    }
}

TEST(Partition, RefusesMoreAgentsThanRecords) {
    const Eigen::VectorXd labels = cyclic_labels(10, 2);
    for (const PartitionSpec& spec : {PartitionSpec{}, dirichlet(1), by_label(1)})
        EXPECT_THROW((void)partition_rows(all_rows(10), labels, 11, spec, 1), DataError);
    EXPECT_THROW((void)partition_rows(all_rows(10), labels, 6, by_label(2), 1), DataError);
    EXPECT_THROW((void)partition_rows(all_rows(11), labels, 2, PartitionSpec{}, 1), DataError);
    EXPECT_THROW((void)partition_rows(all_rows(10), labels, 0, PartitionSpec{}, 1), ConfigError);
    EXPECT_THROW((void)partition_rows(all_rows(10), labels, 2, dirichlet(not_a_number), 1),
                 ConfigError);
}

TEST(Partition, NamesAreReadBack) {
    for (const std::string text : {"iid", "dirichlet:10", "dirichlet:0.1", "by-label:3"})
        EXPECT_EQ(name_of(parse_partition("--partition", text)), text);
    EXPECT_EQ(parse_partition("--partition", "dirichlet:0.25").alpha, 0.25);
    EXPECT_EQ(parse_partition("--partition", "by-label:4").labels_per_agent, 4);
    for (const std::string text : {"",
                                   "idd",
                                   "iid:1",
                                   "dirichlet",
                                   "dirichlet:",
                                   "dirichlet:0",
                                   "dirichlet:-1",
                                   "dirichlet:nan",
                                   "dirichlet:1x",
                                   "by-label",
                                   "by-label:0",
                                   "by-label:1.5",
                                   "by-label:99999999999"})
        EXPECT_THROW((void)parse_partition("--partition", text), ConfigError) << text;
}

TEST(SplitRows, GivesDisjointAscendingPartsThatCoverAllRows) {
    for (const Eigen::Index records : {2, 3, 10, 1001})
        for (const double fraction : {1e-9, 0.2, 0.5, 1 - 1e-9}) {
            const Split split = split_rows(records, fraction, 4);
            EXPECT_TRUE(std::is_sorted(split.train.begin(), split.train.end()));
            EXPECT_TRUE(std::is_sorted(split.test.begin(), split.test.end()));
            EXPECT_FALSE(split.train.empty());
            EXPECT_FALSE(split.test.empty());
            std::vector<Eigen::Index> merged;
            std::merge(split.train.begin(),
                       split.train.end(),
                       split.test.begin(),
                       split.test.end(),
                       std::back_inserter(merged));
            EXPECT_EQ(merged, all_rows(records));
        }
    EXPECT_EQ(split_rows(1000, 0.2, 1).test.size(), 200U);
    EXPECT_EQ(split_rows(1000, 0.2, 1).test, split_rows(1000, 0.2, 1).test);
    EXPECT_NE(split_rows(1000, 0.2, 1).test, split_rows(1000, 0.2, 2).test);
}

TEST(SplitRows, RefusesFractionsOutsideTheOpenUnitInterval) {
    for (const double fraction : {0.0, 1.0, -0.1, 2.0, std::nan("")})
        EXPECT_THROW((void)split_rows(10, fraction, 1), ConfigError) << fraction;
    EXPECT_THROW((void)split_rows(1, 0.5, 1), DataError);
}

/// Every change of it shows.
void expect_digest_sees(const Dataset& data, const std::function<void(Dataset&)>& change) {
    Dataset changed = data;
    EXPECT_EQ(digest_of_records(changed), digest_of_records(data));
    change(changed);
    EXPECT_NE(digest_of_records(changed), digest_of_records(data));
}

TEST(RecordsDigest, SeesEveryPartOfTheRecords) {
    const Dataset data = random_real_data(9, 4, 1);
    expect_digest_sees(data, [](Dataset& d) { d.labels(3) += 1e-9; });
    expect_digest_sees(data, [](Dataset& d) { d.features.valuePtr()[5] += 1e-9; });
    expect_digest_sees(data, [](Dataset& d) { d.features.innerIndexPtr()[0] ^= 1; });
    expect_digest_sees(data, [](Dataset& d) { d.target = Target::value; });
    expect_digest_sees(data, [](Dataset& d) { d.image_rows = 2; });
    expect_digest_sees(data, [](Dataset& d) { d.writers.assign(9, 0); });
    expect_digest_sees(data, [](Dataset& d) { d = widened(std::move(d), 5); });
    std::vector<Eigen::Index> rows{0, 1, 2, 3, 4, 5, 6, 7, 8};
    expect_digest_sees(data, [&](Dataset& d) {
        std::swap(rows[2], rows[7]);
        d = select_rows(d, rows);
    });
    expect_digest_sees(data, [&](Dataset& d) {
        rows.pop_back();
        d = select_rows(d, rows);
    });
}

TEST(RecordsDigest, OfDenseRecordsSeesThemToo) {
    Dataset data = random_real_data(6, 3, 2);
    data.dense = DenseRows(RealRows(RealRows::Random(6, 3)));
    expect_digest_sees(data, [](Dataset& d) { std::get<RealRows> (*d.dense)(5, 2) += 1e-9; });
    data.dense = DenseRows(PixelRows(PixelRows::Constant(6, 3, 7)));
    expect_digest_sees(data, [](Dataset& d) { std::get<PixelRows> (*d.dense)(0, 1) = 8; });
}

TEST(RecordsDigest, IsThatOfTheContentWhateverTheFile) {
    const test::TemporaryFolder folder;
    const std::string text = "+1 1:1 3:0.5\n-1 2:1\n";
    const Dataset plain = read_records(folder.write("a.svm", text));
    const Dataset commented = read_records(folder.write("b.svm", "# copied\n" + text));
    EXPECT_EQ(digest_of_records(plain), digest_of_records(commented));
}

}  // namespace
}  // namespace sotto
