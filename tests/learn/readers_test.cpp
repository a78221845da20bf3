#include "sotto/learn/readers.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "test_data.hpp"

namespace sotto {
namespace {

using sotto::testing::all_rows;
using sotto::testing::data_file;
using sotto::testing::TemporaryFolder;

std::string error_of(const std::string& path) {
    try {
        (void)read_records(path);
    } catch (const DataError& error) {
        return error.what();
    }
    return "no DataError";
}

void expect_error(const std::string& path, const std::vector<std::string>& parts) {
    const std::string message = error_of(path);
    EXPECT_NE(message.find(path), std::string::npos) << message;
    for (const std::string& part : parts)
        EXPECT_NE(message.find(part), std::string::npos) << message << "\nshould mention: " << part;
}

/// Features of all records, a record in a column.
Eigen::MatrixXd features_of(const Dataset& data) {
    Eigen::MatrixXd features(data.feature_count(), data.records());
    copy_features(data, all_rows(data.records()), features);
    return features;
}

/// Big-endian.
std::string word(std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
    return bytes;
}

std::string idx_images(std::uint32_t count, std::uint32_t rows, std::uint32_t columns) {
    std::string text = word(0x0803) + word(count) + word(rows) + word(columns);
    for (std::uint32_t i = 0; i < count * rows * columns; ++i) text += static_cast<char>(i * 7);
    return text;
}

std::string idx_labels(std::uint32_t count) {
    std::string text = word(0x0801) + word(count);
    for (std::uint32_t i = 0; i < count; ++i) text += static_cast<char>(i % 10);
    return text;
}

TEST(ReadIdx, GivesEveryPixelOver255AndTheLabelsOfTheFileBesideIt) {
    const TemporaryFolder folder;
    for (const bool compressed_images : {false, true})
        for (const bool compressed_labels : {false, true}) {
            const std::string name = std::to_string(2 * compressed_images + compressed_labels);
            const std::string images = name + "-images-idx3-ubyte";
            const std::string labels = name + "-labels-idx1-ubyte";
            const std::string path = compressed_images
                                         ? folder.write_gzip(images + ".gz", idx_images(13, 2, 3))
                                         : folder.write(images, idx_images(13, 2, 3));
            if (compressed_labels)
                (void)folder.write_gzip(labels + ".gz", idx_labels(13));
            else
                (void)folder.write(labels, idx_labels(13));
            const Dataset data = read_records(path);
            ASSERT_EQ(data.records(), 13);
            EXPECT_EQ(data.feature_count(), 6);
            EXPECT_EQ(data.image_rows, 2);
            EXPECT_EQ(data.target, Target::label);
            const Eigen::MatrixXd features = features_of(data);
            for (Eigen::Index i = 0; i < 13; ++i) {
                EXPECT_EQ(data.labels[i], static_cast<double>(i % 10));
                for (Eigen::Index k = 0; k < 6; ++k)
                    EXPECT_EQ(features(k, i), static_cast<double>((6 * i + k) * 7 % 256) / 255);
            }
        }
}

TEST(ReadIdx, SaysWhatIsWrongAndWhere) {
    const TemporaryFolder folder;
    const std::string images = idx_images(3, 2, 2);
    (void)folder.write("a-labels-idx1", idx_labels(3));
    const auto with = [&](const std::string& content) {
        return folder.write("a-images-idx3", content);
    };
    EXPECT_NO_THROW((void)read_records(with(images)));
    expect_error(with(images.substr(0, 20)), {"ends after byte 20", "values"});
    expect_error(with(images.substr(0, 10)), {"ends after byte 10", "header"});
    expect_error(with(images.substr(0, 3)), {"magic number"});
    expect_error(with(images + "x"), {"byte 28", "goes on"});
    expect_error(with(word(0x0D03)), {"byte 2", "0x0d"});
    expect_error(with(word(0x0801) + word(3)), {"byte 3", "1 dimensions"});
    expect_error(with(word(0x0803) + word(3) + word(0) + word(2)), {"byte 8", "dimension 2 is 0"});
    expect_error(with(word(0x0803) + word(3) + word(1 << 20) + word(2)), {"1048576 x 2"});
    // A header may promise any number of bytes.
    expect_error(with(word(0x0803) + word(3) + word(60000) + word(60000)), {"ends after byte 16"});
    expect_error(folder.write("digits", images), {"labels-idx1", "images-idx3"});
    expect_error(folder.write("b-images-idx3", images), {"labels are missing", "b-labels-idx1"});
    (void)folder.write("c-labels-idx1", idx_labels(4));
    EXPECT_NE(error_of(folder.write("c-images-idx3", images)).find("4 labels for the 3 images"),
              std::string::npos);
    const std::string packed = folder.write_gzip("a-images-idx3", idx_images(3, 50, 50));
    std::filesystem::resize_file(packed, std::filesystem::file_size(packed) / 2);
    expect_error(packed, {"damaged or truncated"});
}

TEST(ReadIdx, FindsMnist) {
    const auto path = data_file("train-images-idx3-ubyte.gz");
    if (!path) GTEST_SKIP() << "SOTTO_DATA_DIR is not set";
    const Dataset data = read_records(*path);
    EXPECT_EQ(data.records(), 60000);
    EXPECT_EQ(data.feature_count(), 784);
    EXPECT_EQ((data.labels.array() == 1).count(), 6742);
    const auto& pixels = std::get<PixelRows>(*data.dense);
    EXPECT_NEAR(pixels.cast<double>().mean() / 255, 0.1307, 1e-4);
}

TEST(ReadCsv, TakesTheLastColumnAsTargetWithOrWithoutAHeader) {
    const TemporaryFolder folder;
    const std::string rows = "1, -2.5,3\r\n\n+4,5e1,0.5\n";
    for (const std::string& text : {rows, "a,b,\"c\"\n" + rows, "\nwidth ,height,price\n" + rows}) {
        const Dataset data = read_records(folder.write("a.csv", text));
        EXPECT_EQ(data.labels, Eigen::Vector2d(3, 0.5));
        EXPECT_EQ(data.target, Target::value);
        Eigen::Matrix2d expected;
        expected << 1, 4, -2.5, 50;
        EXPECT_EQ(features_of(data), expected);
    }
}

TEST(ReadCsv, SaysWhatIsWrongAndWhere) {
    const TemporaryFolder folder;
    const auto with = [&](const std::string& text) { return folder.write("a.csv", text); };
    expect_error(with("1,2,3\n1,x,3\n"), {"line 2", "column 2", "\"x\""});
    expect_error(with("1,x,3\n1,2,3\n"), {"line 1", "column 2"});  // no header: it has numbers
    expect_error(with("a,b\n1,nan\n"), {"line 2", "finite"});
    expect_error(with("1,inf\n"), {"line 1", "finite"});
    expect_error(with("1,\n"), {"column 2", "\"\""});
    expect_error(with("1,2,3\n1,2\n"), {"line 2", "2 columns", "3"});
    expect_error(with("a,b,c\n"), {"no records"});
    EXPECT_THROW((void)read_csv(with("1\n2\n")), DataError);
}

TEST(ReadCsv, FindsTheHouses) {
    const auto path = data_file("cal_housing.data.gz");
    if (!path) GTEST_SKIP() << "SOTTO_DATA_DIR is not set";
    const Dataset data = read_records(*path);
    EXPECT_EQ(data.records(), 20640);
    EXPECT_EQ(data.feature_count(), 8);
    EXPECT_NEAR(data.labels.mean(), 206855.82, 0.01);
    EXPECT_EQ(data.labels.minCoeff(), 14999);
}

TEST(ReadLeaf, KeepsWritersRecordsAndLabels) {
    const TemporaryFolder folder;
    const std::string first =
        R"({"users": ["ada", "bob"], "num_samples": [2, 1], "hierarchies": [["x"], {"y": 1}],
            "user_data": {"bob": {"y": [7], "x": [[5, 6]]},
                          "ada": {"x": [[0.5, 1], [[2], [3e0]]], "y": [0, 61]}}})";
    for (const std::string& path :
         {folder.write("a.json", first), folder.write_gzip("a.gz", "\n " + first)}) {
        const Dataset data = read_records(path);
        Eigen::MatrixXd expected(2, 3);
        expected << 5, 0.5, 2, 6, 1, 3;
        EXPECT_EQ(features_of(data), expected);
        EXPECT_EQ(data.labels, Eigen::Vector3d(7, 0, 61));
        EXPECT_EQ(data.writers, (std::vector<int>{1, 0, 0}));
        EXPECT_EQ(data.target, Target::label);
    }
    const Dataset both =
        concatenate({read_leaf(folder.path("a.json")), read_leaf(folder.path("a.gz"))});
    EXPECT_EQ(both.writers, (std::vector<int>{1, 0, 0, 3, 2, 2}));
    EXPECT_EQ(select_rows(both, std::vector<Eigen::Index>{4, 0}).writers, (std::vector<int>{2, 1}));
}

TEST(ReadLeaf, SaysWhatIsWrongAndWhere) {
    const TemporaryFolder folder;
    const auto with = [&](const std::string& text) { return folder.write("a.json", text); };
    const auto user = [&](const std::string& data) {
        return with(R"({"users": ["ada"], "num_samples": [1], "user_data": {"ada": )" + data +
                    "}}");
    };
    EXPECT_NO_THROW((void)read_leaf(user(R"({"x": [[1]], "y": [2]})")));
    expect_error(with("{\"users\": [}"), {"byte 12", "JSON"});
    expect_error(with("{}"), {"no records"});
    expect_error(user(R"({"x": [[1], [1, 2]], "y": [2, 2]})"), {"ada", "record 2", "2 features"});
    expect_error(user(R"({"x": [1], "y": [2]})"), {"array of arrays"});
    expect_error(user(R"({"x": ["text"], "y": [2]})"), {"\"x\" holds a text"});
    expect_error(user(R"({"x": [[]], "y": [2]})"), {"no features"});
    expect_error(user(R"({"x": [[1]], "y": [2.5]})"), {"label 2.5"});
    expect_error(user(R"({"x": [[1]], "y": [-1]})"), {"label -1"});
    expect_error(user(R"({"x": [[1]], "y": [1, 2]})"), {"1 records", "2 labels"});
    expect_error(user(R"({"x": [[1], [2]], "y": [1, 2]})"), {"num_samples"});
    expect_error(user(R"({"x": [[1]], "y": [2]}, "ada": {"x": [[1]], "y": [2]})"), {"twice"});
    expect_error(user(R"({"x": [[1]], "y": [2]}, "eve": {"x": [[1]], "y": [2]})"), {"eve"});
    expect_error(with(R"({"users": ["a", "b"], "user_data": {"a": {"x": [[1]], "y": [2]}}})"),
                 {"\"b\" has no data"});
    expect_error(with(R"({"users": ["a", "a"]})"), {"twice"});
    expect_error(with("{" + std::string(100000, '[')), {"byte"});
}

TEST(ReadRecords, RecognisesTheFormatByItsContent) {
    const TemporaryFolder folder;
    EXPECT_FALSE(read_records(folder.write("a.json", "+1 1:1\n-1 2:1\n")).dense);
    EXPECT_TRUE(read_records(folder.write("a.txt", "# a comment, with a comma\n1,2\n")).dense);
    expect_error(folder.write("a.csv", std::string("\x89PNG\0\0", 6)),
                 {"byte 4", "LIBSVM, IDX, CSV"});
    expect_error(folder.path("none"), {"cannot be read"});
    expect_error(folder.write("empty", ""), {"no records"});
}

TEST(Concatenate, RefusesToMixKinds) {
    const TemporaryFolder folder;
    const Dataset libsvm = read_records(folder.write("a", "+1 1:1\n-1 2:1\n"));
    const Dataset csv = read_records(folder.write("b", "1,2\n3,4\n"));
    const Dataset wider = read_records(folder.write("c", "1,2,3\n"));
    EXPECT_THROW((void)concatenate({libsvm, csv}), DataError);
    EXPECT_THROW((void)concatenate({csv, wider}), DataError);
    EXPECT_EQ(concatenate({csv, csv}).labels, Eigen::Vector4d(2, 4, 2, 4));
    EXPECT_THROW((void)widened(csv, 3), DataError);
}

TEST(WithSparseFeatures, KeepsEveryValue) {
    const TemporaryFolder folder;
    const Dataset dense = read_records(folder.write("a", "1,0,2\n0,0,4\n7,8,9\n"));
    const Dataset sparse = with_sparse_features(dense);
    EXPECT_FALSE(sparse.dense);
    EXPECT_EQ(sparse.features.nonZeros(), 3);
    EXPECT_EQ(features_of(sparse), features_of(dense));
    EXPECT_EQ(sparse.labels, dense.labels);
}

TEST(Standardised, TrainingRowsHaveMeanZeroAndDeviationOne) {
    SeededRandom random(5, "test");
    Dataset data;
    data.target = Target::value;
    RealRows table(200, 4);
    data.labels.resize(200);
    for (Eigen::Index i = 0; i < 200; ++i) {
        for (Eigen::Index k = 0; k < 3; ++k)
            table(i, k) = std::pow(10, k) * (random.normal() + 100);
        table(i, 3) = 5;  // constant
        data.labels[i] = 1e5 + 3 * random.normal();
    }
    data.dense = table;
    auto rows = all_rows(150);
    const Dataset result = standardised(data, standardisation_of(data, rows));
    const Eigen::MatrixXd train = features_of(result).leftCols(150);
    EXPECT_LE(train.rowwise().mean().cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LE((train.topRows(3).rowwise().squaredNorm().array() / 150 - 1).abs().maxCoeff(), 1e-12);
    EXPECT_LE(features_of(result).row(3).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_NEAR(result.labels.head(150).mean(), 0, 1e-10);
    EXPECT_NEAR(result.labels.head(150).squaredNorm() / 150, 1, 1e-12);
    // Other rows have no influence.
    const Standardisation before = standardisation_of(data, rows);
    std::get<RealRows>(*data.dense).bottomRows(50) *= 100;
    data.labels.tail(50) *= 100;
    EXPECT_EQ(standardisation_of(data, rows).feature_deviation, before.feature_deviation);
    EXPECT_EQ(standardisation_of(data, rows).target_mean, before.target_mean);
    data.target = Target::label;
    EXPECT_EQ(standardised(data, standardisation_of(data, rows)).labels, data.labels);
}

}  // namespace
}  // namespace sotto
