#include "learn/readers.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "learn/label_set.hpp"
#include "learn/logistic.hpp"
#include "learn/reader_fixtures.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto {
namespace {

using test::contains;
using test::data_file;
using test::error_of;
using test::expect_error;
using test::features_of;
using test::message_of;
using test::TemporaryFolder;

TEST(ReadRecords, RecognisesTheFormatByItsContent) {
    const TemporaryFolder folder;
    EXPECT_FALSE(read_records(folder.write("a.json", "+1 1:1\n-1 2:1\n")).dense);
    EXPECT_TRUE(read_records(folder.write("a.txt", "# a comment, with a comma\n1,2\n")).dense);
    expect_error(folder.write("a.csv", std::string("\x89PNG\0\0", 6)),
                 {"byte 4", "LIBSVM, IDX, CSV"});
    const std::string mark = "\xEF\xBB\xBF";
    EXPECT_EQ(read_records(folder.write("b.txt", mark + "3 1:1\n-1 2:1\n")).labels(0), 3);
    EXPECT_TRUE(read_records(folder.write("b.csv", mark + "a,b\n1,2\n")).dense);
    const std::string leaf = R"({"users":["u"],"user_data":{"u":{"x":[[1,2]],"y":[5]}}})";
    EXPECT_EQ(read_records(folder.write("b.json", mark + leaf)).labels(0), 5);
    expect_error(folder.path("none"), {"cannot be read"});
    expect_error(folder.write("empty", ""), {"no records"});
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
    expect_error(with(images.substr(0, 20)), {"announces", "holds at most 4"});
    expect_error(with(images.substr(0, 10)), {"ends after byte 10", "header"});
    expect_error(with(images.substr(0, 3)), {"magic number"});
    expect_error(with(images + "x"), {"byte 28", "goes on"});
    expect_error(with(word(0x0D03)), {"byte 2", "0x0d"});
    expect_error(with(word(0x0801) + word(3)), {"byte 3", "1 dimensions"});
    expect_error(with(word(0x0803) + word(3) + word(0) + word(2)), {"byte 8", "dimension 2 is 0"});
    expect_error(with(word(0x0803) + word(3) + word(1 << 20) + word(2)), {"1048576 x 2"});
    // A header may promise any number of bytes.
    expect_error(with(word(0x0803) + word(3) + word(60000) + word(60000)),
                 {"announces 3 x 3600000000 values", "holds at most 0"});
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

std::string libsvm_error(const std::string& path) {
    try {
        (void)read_libsvm(path);
    } catch (const DataError& error) {
        return error.what();
    }
    return "no DataError";
}

void expect_mentions(const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nshould mention: " << part;
}

TEST(ReadLibsvm, KeepsRowsColumnsValuesAndOrder) {
    const TemporaryFolder folder;
    const std::string text =
        "# a comment line\n"
        "+1 1:0.5 3:-2e-1 \r\n"
        "\n"
        "-1 # no features\n"
        "  +1\t2:1 4:+7 # trailing\n"
        "-1 4:0";  // a stored zero, and no line end
    for (const std::string& path : {folder.write("a", text), folder.write_gzip("b.gz", text)}) {
        const Dataset data = read_libsvm(path);
        Eigen::MatrixXd expected(4, 4);
        expected << 0.5, 0, -0.2, 0, 0, 0, 0, 0, 0, 1, 0, 7, 0, 0, 0, 0;
        EXPECT_EQ(Eigen::MatrixXd(data.features), expected);
        EXPECT_EQ(data.labels, Eigen::Vector4d(1, -1, 1, -1));
        EXPECT_EQ(data.features.nonZeros(), 5);
        EXPECT_TRUE(data.features.isCompressed());
        EXPECT_EQ(data.source, path);
    }
}

TEST(ReadLibsvm, PadsColumnsToTheMinimum) {
    const TemporaryFolder folder;
    const std::string path = folder.write("a", "1 2:1\n-1 3:1\n");
    EXPECT_EQ(read_libsvm(path).feature_count(), 3);
    EXPECT_EQ(read_libsvm(path, 10).feature_count(), 10);
    EXPECT_EQ(read_libsvm(path, 2).feature_count(), 3);
}

TEST(ReadLibsvm, KeepsLabelsAsTheyAre) {
    const TemporaryFolder folder;
    EXPECT_EQ(read_libsvm(folder.write("a", "2 1:1\n1 1:1\n2\n")).labels, Eigen::Vector3d(2, 1, 2))
        << "another file may have a third label";
    EXPECT_EQ(read_libsvm(folder.write("b", "0\n1\n0\n")).labels, Eigen::Vector3d(0, 1, 0));
    EXPECT_EQ(read_libsvm(folder.write("c", "0\n1\n2\n")).labels, Eigen::Vector3d(0, 1, 2));
    EXPECT_EQ(read_libsvm(folder.write("d", "3\n3\n3\n")).labels, Eigen::Vector3d(3, 3, 3));
}

TEST(ReadLibsvm, NamesTheLineOfEveryDefect) {
    const TemporaryFolder folder;
    const std::string defects[] = {"nan 1:1",
                                   "inf 1:1",
                                   "x 1:1",
                                   "+-1 1:1",
                                   "++1 1:1",
                                   "1 1:nan",
                                   "1 1:inf",
                                   "1 1:-inf",
                                   "1 1:1e999",
                                   "1 1:",
                                   "1 1:0x1p3",
                                   "1 1:1.5.2",
                                   "1 1:1,2:1",
                                   "1 garbage",
                                   "1 1",
                                   "1 :1",
                                   "1 qid:3",
                                   "1 1.5:1",
                                   "1 0:1",
                                   "1 -1:1",
                                   "1 2:1 1:1",
                                   "1 2:1 2:1",
                                   "1 1 :1",
                                   "1 1: 1",
                                   "1 4294967297:1",
                                   "1 99999999999999999999:1",
                                   "1 2147483647:1",
                                   "1:1 2:1"};
    for (const std::string& defect : defects) {
        const std::string path =
            folder.write("bad", "# first line\n1 1:1\n" + defect + "\n1 1:1\n");
        expect_mentions(libsvm_error(path), "bad, line 3:");
    }
}

TEST(ReadLibsvm, SaysWhatIsAllowed) {
    const TemporaryFolder folder;
    expect_mentions(libsvm_error(folder.write("a", "1 0:1\n")), "from 1 to 2147483646");
    expect_mentions(libsvm_error(folder.write("a", "1 0:1\n")),
                    "indices count from 1 in all files");
    expect_mentions(libsvm_error(folder.write("b", "1 5:1 4:1\n")),
                    "greater than the one before it, 5");
    expect_mentions(libsvm_error(folder.write("c", "1 5:nan\n")),
                    "\"5:nan\" must be a finite number");
    expect_mentions(libsvm_error(folder.write("d", "1 five\n")), "must be index:value");
}

TEST(ReadLibsvm, SaysAllOfAnErrorWhateverTheFileHolds) {
    const TemporaryFolder folder;
    const std::string path = folder.write("nul", std::string("1 1:2\0003 2:1\n", 12));
    expect_mentions(libsvm_error(path), "value in \"1:2\\x003\" must be a finite number");
}

TEST(ReadLibsvm, RefusesFilesWithoutRecords) {
    const TemporaryFolder folder;
    expect_mentions(libsvm_error(folder.write("empty", "")), "holds no records");
    expect_mentions(libsvm_error(folder.write("comments", "# nothing\n\n")), "holds no records");
    expect_mentions(libsvm_error(folder.path("missing")), "missing");
}

TEST(ReadLibsvm, RefusesATruncatedGzipFile) {
    const TemporaryFolder folder;
    std::string text;
    SeededRandom random(1, "gzip");
    for (int i = 0; i < 20000; ++i) text += "1 3:" + std::to_string(random.uniform()) + "\n";
    const std::string path = folder.write_gzip("cut.gz", text);
    EXPECT_EQ(read_libsvm(path).records(), 20000);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    expect_mentions(libsvm_error(path), "line");
}

struct RealFile {
    const char* name;
    Eigen::Index records, features, values;  // values: -1 where the count is not published
    Eigen::Index negative, positive;
};

class RealFiles : public ::testing::TestWithParam<RealFile> {};

TEST_P(RealFiles, HaveThePublishedCounts) {
    const RealFile& file = GetParam();
    const auto path = data_file(file.name);
    if (!path) GTEST_SKIP() << "SOTTO_DATA_DIR is not set";
    const Dataset data = read_libsvm(*path);
    EXPECT_EQ(data.records(), file.records);
    EXPECT_EQ(data.feature_count(), file.features);
    if (file.values >= 0) {
        EXPECT_EQ(data.features.nonZeros(), file.values);
    }
    const LabelSet labels = labels_of(data);
    ASSERT_EQ(labels.size(), 2U);
    EXPECT_EQ((data.labels.array() == labels[0]).count(), file.negative);
    EXPECT_EQ((data.labels.array() == labels[1]).count(), file.positive);
}

INSTANTIATE_TEST_SUITE_P(
    ReadLibsvm,
    RealFiles,
    ::testing::Values(RealFile{"a9a.gz", 32561, 123, 451592, 24720, 7841},
                      RealFile{"a9a.t.gz", 16281, 122, -1, 12435, 3846},
                      RealFile{"w8a.gz", 49749, 300, -1, 48270, 1479},
                      RealFile{"mushrooms", 8124, 112, -1, 3916, 4208},
                      RealFile{"phishing.gz", 11055, 68, 11055 * 30, 4898, 6157},
                      RealFile{"ijcnn1.gz", 49990, 22, 49990 * 13, 45137, 4853}),
    [](const auto& instance) {
        const std::string name = instance.param.name;
        std::string result;
        for (const char c : name)
            if (std::isalnum(static_cast<unsigned char>(c)) != 0) result += c;
        return result;
    });

/// Bytes that do not compress to nothing; more than one buffer.
std::string sample() {
    std::string bytes;
    for (unsigned i = 0; i < 400'000; ++i) bytes += static_cast<char>((i * i) >> 7);
    return bytes;
}

std::string all_of(GzipBuffer& buffer) {
    return {std::istreambuf_iterator<char>(&buffer), std::istreambuf_iterator<char>()};
}

TEST(GzipBuffer, GivesTheBytesOfPlainAndCompressedFiles) {
    const TemporaryFolder folder;
    for (const std::string& path :
         {folder.write("plain", sample()), folder.write_gzip("packed", sample())}) {
        GzipBuffer buffer(path);
        EXPECT_TRUE(all_of(buffer) == sample()) << path;
        EXPECT_EQ(buffer.position(), 400'000);
    }
}

TEST(GzipBuffer, CountsTheBytesTakenAndNamesWhatIsMissing) {
    const TemporaryFolder folder;
    GzipBuffer buffer(folder.write_gzip("packed", sample()));
    std::string part(300'000, '\0');
    buffer.read(part.data(), part.size(), "header");
    EXPECT_TRUE(part == sample().substr(0, 300'000));
    EXPECT_EQ(buffer.position(), 300'000);
    const std::string message =
        message_of<DataError>([&] { buffer.read(part.data(), 200'000, "table of contents"); });
    EXPECT_TRUE(contains(message, "packed: ends after byte 400000, in its table of contents"));
}

TEST(GzipBuffer, RefusesWhatIsNoWholeFile) {
    const TemporaryFolder folder;
    EXPECT_THROW(GzipBuffer{folder.path("nothing")}, DataError);
    EXPECT_THROW(GzipBuffer{std::filesystem::temp_directory_path().string()}, DataError);
    const std::string path = folder.write_gzip("packed", sample());
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    GzipBuffer cut(path);
    EXPECT_TRUE(
        contains(message_of<DataError>([&] { (void)all_of(cut); }), "damaged or truncated"));
}

TEST(SyntheticBinary, HasTheShapeOfA9a) {
    const Dataset data = synthetic_binary(20000, 3);
    EXPECT_EQ(data.records(), 20000);
    EXPECT_EQ(data.feature_count(), 123);
    EXPECT_EQ(data.features.nonZeros(), 14 * 20000);
    EXPECT_EQ(data.features.coeffs().minCoeff(), 1);
    EXPECT_EQ(data.features.coeffs().maxCoeff(), 1);
    EXPECT_EQ((data.labels.array().abs() == 1).count(), 20000);
    // One category of every group: row sums over the columns of a group are 1.
    const Eigen::MatrixXd dense(data.features);
    int first = 0;
    for (const int size : {5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41}) {
        EXPECT_TRUE((dense.middleCols(first, size).rowwise().sum().array() == 1).all());
        // Skewed: the first category is the commonest.
        EXPECT_GE(dense.col(first).sum(), dense.col(first + size - 1).sum());
        first += size;
    }
    EXPECT_EQ(first, 123);
}

TEST(SyntheticBinary, DependsOnRecordsAndSeedOnly) {
    const Dataset a = synthetic_binary(500, 3), b = synthetic_binary(500, 3);
    EXPECT_EQ(a.labels, b.labels);
    EXPECT_EQ(Eigen::MatrixXd(a.features), Eigen::MatrixXd(b.features));
    EXPECT_NE(a.labels, synthetic_binary(500, 4).labels);
    EXPECT_THROW((void)synthetic_binary(0, 1), ConfigError);
}

TEST(SyntheticBinary, IsLearnableByLogisticRegressionAndAQuarterPositive) {
    const Dataset train = synthetic_binary(20000, 1);
    const auto fresh = std::make_shared<const Dataset>(synthetic_binary(20000, 2));
    EXPECT_NEAR((train.labels.array() == 1).cast<double>().mean(), 0.24, 0.02);

    const auto objective = make_logistic_objective(train, fresh);
    Eigen::VectorXd model = Eigen::VectorXd::Zero(objective->dimension());
    for (int step = 0; step < 12; ++step) {
        auto curvature = objective->curvature_sum(model);
        ASSERT_TRUE(curvature.has_value());
        curvature->gradient += model;  // a small ridge: one-hot groups and a bias are collinear
        curvature->hessian.diagonal().array() += 1;
        model -= curvature->hessian.ldlt().solve(curvature->gradient);
    }
    const LossSum result = objective->test_loss(model, 0, 1);
    const double accuracy = result.correct / static_cast<double>(result.records);
    EXPECT_GE(accuracy, 0.83);
    EXPECT_LE(accuracy, 0.86);
}

TEST(SyntheticValues, AreDeterministicAndNoLongerThanOne) {
    for (const std::uint64_t seed : {1u, 9u}) {
        const Dataset data = synthetic_values(4000, seed);
        const auto& values = std::get<RealRows>(data.dense.value());
        EXPECT_EQ(data.records(), 4000);
        EXPECT_LE(values.rowwise().norm().maxCoeff(), 1);
        EXPECT_GE(values.minCoeff(), 0);
        EXPECT_EQ(values, std::get<RealRows>(synthetic_values(4000, seed).dense.value()));
        EXPECT_NE(values, std::get<RealRows>(synthetic_values(4000, seed + 1).dense.value()));
        // Uniform from 0 to a: mean a/2, standard error a / sqrt(12 N).
        const double longest = 1 / std::sqrt(8.0);
        for (Eigen::Index k = 0; k < 8; ++k)
            EXPECT_NEAR(values.col(k).mean(), longest / 2, 5 * longest / std::sqrt(12.0 * 4000))
                << "seed " << seed;
    }
    EXPECT_THROW((void)synthetic_values(0, 1), ConfigError);
}

}  // namespace
}  // namespace sotto
