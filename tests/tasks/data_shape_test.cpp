#include "tasks/data_shape.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "net/memory_network.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

// What peers may announce: tests/hostile/peer_bytes.cpp; several processes:
// tests/cli/data_agreement_test.cpp.
TEST(AgreedShape, IsItsOwnWhereThereIsNobodyElse) {
    const auto network = make_memory_network(3, 1);
    LabelSet many;
    for (int label = 0; label < 3000; ++label) many.push_back(label);
    TableShape table;
    table.features = {{"a", ColumnShape::Kind::categories, {"x", "y"}}};
    table.label = "b";
    const DataShape shape = agreed_shape(
        *network, {.target = Target::value, .features = 5000000, .labels = many, .table = table});
    EXPECT_EQ(shape.target, Target::value);
    EXPECT_EQ(shape.features, 5000000);
    EXPECT_EQ(shape.labels, many);
    ASSERT_TRUE(shape.table.has_value());
    EXPECT_EQ(shape.table->features, table.features);
    EXPECT_EQ(agreed_order(*network, {{"a", "b"}, {"f"}}).columns,
              (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(agreed_shape(*network, {.target = Target::value, .features = 1}).target,
              Target::value);
}

TEST(SameImageRows, AreThoseThatAnybodyKnows) {
    EXPECT_EQ(same_image_rows(0, "a", 0, "b"), 0);
    EXPECT_EQ(same_image_rows(28, "a", 0, "b"), 28);
    EXPECT_EQ(same_image_rows(0, "a", 28, "b"), 28);
    EXPECT_EQ(same_image_rows(28, "a", 28, "b"), 28);
    EXPECT_EQ(
        test::message_of<DataError>([] { (void)same_image_rows(28, "a", 14, "b"); }),
        "data: images of b have 14 rows of pixels, those of a have 28; all must have the same "
        "shape");
}

}  // namespace
}  // namespace sotto
