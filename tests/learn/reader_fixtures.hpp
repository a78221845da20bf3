#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "learn/readers.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/error.hpp"

namespace sotto::test {

inline std::string error_of(const std::string& path) {
    try {
        (void)read_records(path);
    } catch (const DataError& error) {
        return error.what();
    }
    return "no DataError";
}

inline void expect_error(const std::string& path, const std::vector<std::string>& parts) {
    const std::string message = error_of(path);
    EXPECT_NE(message.find(path), std::string::npos) << message;
    for (const std::string& part : parts)
        EXPECT_NE(message.find(part), std::string::npos) << message << "\nshould mention: " << part;
}

/// Features of all records, a record in a column.
inline Eigen::MatrixXd features_of(const Dataset& data) {
    Eigen::MatrixXd features(data.feature_count(), data.records());
    copy_features(data, all_rows(data.records()), features);
    return features;
}

}  // namespace sotto::test
