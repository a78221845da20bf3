#pragma once

#include <string>

#include "account/account_result.hpp"

namespace sotto {

/// The table by distance, one line a distance, for plotting programs; with a name that ends in .svg
/// the picture, drawn by gnuplot, and the table beside it under the name with .txt added.
/// @throws ConfigError if a file cannot be written or there is no gnuplot.
void write_by_distance(const AccountResult& result, const std::string& path);
/// Finds out before a long job whether write_by_distance will fail. @throws ConfigError.
void require_by_distance_writable(const std::string& path);

}  // namespace sotto
