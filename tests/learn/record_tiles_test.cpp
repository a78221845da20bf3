#include "learn/record_tiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "learn/test_data.hpp"
#include "sotto/learn/layers/models.hpp"

namespace sotto {
namespace {

using test::random_vector;

struct Shape {
    std::string name;
    Eigen::Index features;
    std::function<Layers()> layers;
};

/// Sizes of real tasks, small ones, and odd ones.
std::vector<Shape> shapes() {
    return {{"softmax", 784, [] { return softmax_layers(784, 10); }},
            {"softmax of three", 3, [] { return softmax_layers(3, 2); }},
            {"mlp", 784, [] { return mlp_layers(784, 128, 10); }},
            {"odd mlp", 13, [] { return mlp_layers(13, 7, 3); }},
            {"regression", 8, [] { return mlp_layers(8, 33, 1); }},
            {"cnn", 784, [] {
                 return cnn_layers({28, 28, 1}, 10);
             }}};
}

/// What the chain computes for the record in this column.
std::vector<double> column(LayerChain& chain,
                           const Eigen::VectorXd& model,
                           const Eigen::MatrixXd& records,
                           const Eigen::MatrixXd& slopes,
                           Eigen::Index place) {
    chain.features(records.cols()) = records;
    const Eigen::MatrixXd out = chain.forward(model);
    chain.output_slopes() = slopes;
    chain.backward(model);
    std::vector<double> result(out.col(place).begin(), out.col(place).end());
    result.push_back(chain.gradient_norms()[place]);
    // Alone, its gradient is that of its slopes in all layers.
    for (Eigen::Index i = 0; i < records.cols(); ++i)
        if (i != place) chain.drop_record(i);
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(chain.parameters());
    chain.add_gradients(gradient);
    result.insert(result.end(), gradient.begin(), gradient.end());
    return result;
}

TEST(RecordTiles, BeginLargeAndEndSmall) {
    for (const Shape& shape : shapes()) {
        LayerChain chain(shape.layers(), shape.features);
        const auto tiles = place_independent_tiles(chain);
        ASSERT_FALSE(tiles.empty()) << shape.name;
        EXPECT_TRUE(std::ranges::is_sorted(tiles, std::greater())) << shape.name;
        EXPECT_LE(tiles.front(), static_cast<Eigen::Index>(chain.chunk_records()));
        EXPECT_GE(tiles.back(), 1);
        EXPECT_EQ(tiles, place_independent_tiles(chain)) << shape.name << ": not reproducible";
    }
}

// The same record among others, in every tenth place of every tile.
TEST(RecordTiles, HaveTheSameBitsForARecordInEveryPlace) {
    for (const Shape& shape : shapes()) {
        LayerChain chain(shape.layers(), shape.features);
        const auto tiles = place_independent_tiles(chain);
        const Eigen::VectorXd model = random_vector(chain.parameters(), 1, 2);
        const Eigen::VectorXd record = random_vector(shape.features, 1, 3);
        const Eigen::VectorXd slope = random_vector(chain.outputs(), 1, 4);
        std::vector<double> first;
        for (const Eigen::Index tile : tiles)
            for (Eigen::Index place = 0; place < tile;
                 place += std::max<Eigen::Index>(tile / 9, 1)) {
                const auto seed = static_cast<std::uint64_t>(100 + place);
                Eigen::MatrixXd records =
                    random_vector(shape.features * tile, 1, seed).reshaped(shape.features, tile);
                Eigen::MatrixXd slopes = random_vector(chain.outputs() * tile, 1, seed + 1)
                                             .reshaped(chain.outputs(), tile);
                records.col(place) = record;
                slopes.col(place) = slope;
                auto found = column(chain, model, records, slopes, place);
                // Sums over a tile of other size are made in another order: what is summed counts.
                const auto counted = static_cast<std::size_t>(chain.outputs()) + 1;
                const auto compared =
                    tiles.size() == 1 || tile == tiles.front() ? found.size() : counted;
                if (first.empty()) first = found;
                EXPECT_EQ(0, std::memcmp(first.data(), found.data(), compared * sizeof(double)))
                    << shape.name << ", tile of " << tile << ", place " << place;
            }
    }
}

}  // namespace
}  // namespace sotto
