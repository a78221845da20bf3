#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
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
    const std::string message = message_of<ErrorType>([&] { (void)shape_of(table, options); });
    for (const std::string& word : words)
        EXPECT_NE(message.find(word), std::string::npos) << message << "\nwants " << word;
}

}  // namespace sotto::test
