#pragma once

#include <string>
#include <vector>

namespace sotto::test {

/// A command that a page shows, and the lines of its output that the page shows.
struct Shown {
    std::string command;  ///< as a shell takes it; may have several lines
    std::vector<std::string> lines;
    int line = 0;  ///< of the page, from 1, where the command begins
};

/// Commands in the blocks of a page: lines that begin with "$ ", each with the lines after it that
/// begin with "> ", as a shell asks for them. What follows, up to the next command or the end of
/// the block, is its output.
[[nodiscard]] std::vector<Shown> shown_in(const std::string& page);

[[nodiscard]] std::vector<std::string> words_of(const std::string& line);

/// The numbers of a line, without their signs.
[[nodiscard]] std::vector<double> numbers_of(const std::string& line);

/// The same line but for its numbers and how many blanks stand before them.
[[nodiscard]] bool has_same_words(const std::string& shown, const std::string& printed);

/// The same words, and the same numbers but for 1e-4 of their value, which the last steps of an
/// iteration may change from processor to processor, and 1e-14, so that what one processor rounds
/// to 0 may be 6e-16 on another. A time at the end ("2.72 s") may be any.
[[nodiscard]] bool same_line(const std::string& shown, const std::string& printed);

/// Lines that are shown and not printed; those that are empty or begin with "..." stand for any.
[[nodiscard]] std::vector<std::string> not_printed(const Shown& shown, const std::string& output);

}  // namespace sotto::test
