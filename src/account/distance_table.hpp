#pragma once

#include <string>

#include "account/account_result.hpp"

namespace sotto {

/// Writes the table by distance, one line per distance, for plotting programs; if the name ends in
/// .svg, a picture by gnuplot, and the table beside it with .txt appended.
/// @throws ConfigError if a file cannot be written or gnuplot is missing.
void write_by_distance(const AccountResult& result, const std::string& path);
/// Checks before a long job whether write_by_distance can work. @throws ConfigError.
void require_by_distance_writable(const std::string& path);

}  // namespace sotto
