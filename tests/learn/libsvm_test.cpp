#include "learn/libsvm.hpp"

#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learn/dataset.hpp"
#include "sotto/learn/label_set.hpp"

namespace sotto {
namespace {

using test::data_file;
using test::TemporaryFolder;

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

}  // namespace
}  // namespace sotto
