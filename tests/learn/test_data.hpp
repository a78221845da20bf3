#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/seeded_random.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto::test {

/// Path of a real data file, if the environment says where they are.
inline std::optional<std::string> data_file(const std::string& name) {
    const char* folder = std::getenv("SOTTO_DATA_DIR");
    if (folder == nullptr) return std::nullopt;
    return (std::filesystem::path(folder) / name).string();
}

inline std::vector<Eigen::Index> all_rows(Eigen::Index count) {
    std::vector<Eigen::Index> rows(static_cast<std::size_t>(count));
    std::iota(rows.begin(), rows.end(), Eigen::Index{0});
    return rows;
}

inline Eigen::VectorXd random_vector(Eigen::Index size, double scale, std::uint64_t seed) {
    SeededRandom random(seed, "test-vector");
    Eigen::VectorXd result(size);
    for (double& value : result) value = scale * random.normal();
    return result;
}

/// Sparse records with normal values; some rows are empty.
inline Dataset random_real_data(Eigen::Index records, Eigen::Index features, std::uint64_t seed) {
    SeededRandom random(seed, "test-data");
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(records, features);
    Dataset data;
    data.labels.resize(records);
    data.source = "test";
    for (Eigen::Index row = 0; row < records; ++row) {
        const double density = static_cast<double>(row % 4) / 4;
        for (Eigen::Index column = 0; column < features; ++column)
            if (random.uniform() < density) dense(row, column) = random.normal();
        data.labels[row] = random.uniform() < 0.4 ? 1 : -1;
    }
    data.features = dense.sparseView();
    data.features.makeCompressed();
    return data;
}

}  // namespace sotto::test
