#include "learn/label_set.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

Dataset with_labels(const std::vector<double>& labels) {
    Dataset data;
    data.source = "some.svm";
    data.labels = Eigen::Map<const Eigen::VectorXd>(labels.data(), std::ssize(labels));
    data.features = SparseRows(data.labels.size(), 1);
    return data;
}

std::vector<double> labels_in(const Dataset& data) {
    return {data.labels.begin(), data.labels.end()};
}

TEST(LabelSet, HasEveryLabelOnceInAscendingOrder) {
    EXPECT_EQ(labels_of(with_labels({3, -1, 3, 0, -1})), (LabelSet{-1, 0, 3}));
    EXPECT_EQ(labels_of(with_labels({})), LabelSet{});
    Dataset values = with_labels({0.5, 1.5});
    values.target = Target::value;
    EXPECT_EQ(labels_of(values), LabelSet{});
    EXPECT_EQ(united({1, 3}, {2, 3, 7}), (LabelSet{1, 2, 3, 7}));
}

TEST(LabelSet, HoldsWholeNumbersOnly) {
    for (const double label : {0.5, 1e300, -1e300}) {
        const auto message = message_of<DataError>([&] {
            (void)labels_of(with_labels({1, label}));
        });
        EXPECT_TRUE(contains(message, "some.svm: record 2 has label ")) << message;
    }
}

TEST(WithClasses, MakesSignsOfTwoLabelsAndPlacesOfOthers) {
    EXPECT_EQ(labels_in(with_classes(with_labels({2, 1, 1}), {1, 2})),
              (std::vector<double>{1, -1, -1}));
    EXPECT_EQ(labels_in(with_classes(with_labels({1, 1}), {1, 2})), (std::vector<double>{-1, -1}))
        << "a file of one label only";
    EXPECT_EQ(labels_in(with_classes(with_labels({0, 1}), {0, 1})), (std::vector<double>{-1, 1}));
    EXPECT_EQ(labels_in(with_classes(with_labels({7, 3}), {3, 5, 7})), (std::vector<double>{2, 0}))
        << "a file of two labels out of three";
    EXPECT_EQ(labels_in(with_classes(with_labels({4}), {4})), std::vector<double>{0});
}

TEST(WithClasses, LeavesValuesAsTheyAre) {
    Dataset values = with_labels({0.5, 1.5});
    values.target = Target::value;
    EXPECT_EQ(labels_in(with_classes(values, {})), (std::vector<double>{0.5, 1.5}));
}

TEST(WithClasses, NamesALabelThatNoTrainingDataHave) {
    const auto message = message_of<DataError>([&] {
        (void)with_classes(with_labels({1, 9}), {1, 2, 3});
    });
    EXPECT_EQ(message,
              "some.svm: record 2 has label 9, which no training data have (allowed: 1, 2, 3)");
}

TEST(ClassesText, SaysWhichLabelIsWhichClass) {
    EXPECT_EQ(classes_text({"no", "yes"}), "no -> -1, yes -> +1");
    EXPECT_EQ(classes_text({"2", "5", "9"}), "2 -> 0, 5 -> 1, 9 -> 2");
    std::vector<std::string> many;
    for (int label = 1; label <= 62; ++label) many.push_back(std::to_string(label));
    EXPECT_EQ(classes_text(many),
              "1 -> 0, 2 -> 1, 3 -> 2, 4 -> 3, 5 -> 4, 6 -> 5, 7 -> 6, 8 -> 7, 52 more, 61 -> 60, "
              "62 -> 61");
    EXPECT_EQ(labels_text({}), "none");
    EXPECT_EQ(labels_text({-1, 1}), "-1, 1");
}

}  // namespace
}  // namespace sotto
