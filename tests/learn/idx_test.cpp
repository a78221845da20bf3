#include "learn/idx.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>

#include "core/temporary_folder.hpp"
#include "learn/reader_fixtures.hpp"

namespace sotto {
namespace {

using test::data_file;
using test::error_of;
using test::expect_error;
using test::features_of;
using test::TemporaryFolder;

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

}  // namespace
}  // namespace sotto
