#include "sotto/learn/records_digest.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "core/temporary_folder.hpp"
#include "learn/reader_fixtures.hpp"
#include "learn/test_data.hpp"
#include "sotto/learn/readers.hpp"

namespace sotto {
namespace {

using test::random_real_data;

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
