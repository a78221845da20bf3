#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/temporary_folder.hpp"
#include "learn/table_shape.hpp"

namespace sotto::test {

/// The table of a file of this text, site.csv.
inline Table table_of(const std::string& text) {
    const TemporaryFolder folder;
    return read_table(folder.write("site.csv", text));
}

inline TableOptions predicting(const std::string& label) { return {.label = label}; }

template <class ErrorType>
void expect_refusal(const std::string& text,
                    const TableOptions& options,
                    const std::vector<std::string>& words) {
    const Table table = table_of(text);
    std::string message = "no error";
    try {
        (void)shape_of(table, options);
    } catch (const ErrorType& error) {
        message = error.what();
    }
    for (const std::string& word : words)
        EXPECT_NE(message.find(word), std::string::npos) << message << "\nwants " << word;
}

}  // namespace sotto::test
