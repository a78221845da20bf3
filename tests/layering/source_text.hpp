#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sotto::layering {

/// The folder of the project.
inline const std::filesystem::path root = SOTTO_SOURCE_DIR;

/// C++ text whose comments, strings and preprocessor lines are blanked out; line breaks and the
/// number of characters stay.
[[nodiscard]] std::string without_words(std::string text);

/// A function that is defined in a text.
struct FunctionLength {
    std::string name;    ///< what stands before its parameters
    int first_line = 0;  ///< counted from 1
    int lines = 0;       ///< from the first of its head to its closing brace
};

/// Every function defined at namespace or class level, with all that stands in it. Reads braces,
/// not the language: good for code that clang-format has been over.
[[nodiscard]] std::vector<FunctionLength> functions_of(const std::string& text);

/// All headers and sources below a folder, in order.
[[nodiscard]] std::vector<std::filesystem::path> sources_below(const std::filesystem::path& folder);

[[nodiscard]] std::string text_of(const std::filesystem::path& file);

/// README, the pages below docs, and that of the benchmarks.
[[nodiscard]] std::vector<std::filesystem::path> documentation_pages();

}  // namespace sotto::layering
