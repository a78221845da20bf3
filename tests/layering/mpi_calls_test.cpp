// MPI's functions that newer libraries have no more: those of MPI-1 that MPI 3.0 removed, and the
// C++ bindings. Open MPI 5 has none of them; libraries that still do would build what others
// cannot.

#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "layering/source_text.hpp"

namespace {

using sotto::layering::root;
using sotto::layering::sources_below;
using sotto::layering::text_of;
using sotto::layering::without_words;

/// The first removed name in a text; empty if there is none.
std::string removed_name_in(const std::string& text) {
    static const std::regex removed(
        R"(\b(MPI_(Address|Errhandler_(create|get|set)|Type_(extent|hindexed|hvector|lb|ub|struct)|LB|UB)"
        R"(|Handler_function|COMBINER_(HVECTOR|HINDEXED|STRUCT)_INTEGER)\b|MPI::\w+))");
    std::smatch match;
    return std::regex_search(text, match, removed) ? match.str() : "";
}

TEST(MpiCalls, RemovedNamesAreSeen) {
    for (const char* name : {"MPI_Address",
                             "MPI_Errhandler_set",
                             "MPI_Type_extent",
                             "MPI_Type_struct",
                             "MPI_UB",
                             "MPI::Init"})
        EXPECT_EQ(removed_name_in(std::string("x = ") + name + "(a);"), name);
    for (const char* name : {"MPI_Get_address",
                             "MPI_Comm_set_errhandler",
                             "MPI_Type_create_struct",
                             "MPI_Type_get_extent"})
        EXPECT_EQ(removed_name_in(std::string("x = ") + name + "(a);"), "");
}

TEST(MpiCalls, NoneIsOneThatNewerLibrariesRemoved) {
    int files = 0;
    for (const char* folder : {"include", "src", "tests", "bench"})
        for (const auto& file : sources_below(root / folder)) {
            ++files;
            EXPECT_EQ(removed_name_in(without_words(text_of(file))), "") << file;
        }
    EXPECT_GT(files, 500);
}

}  // namespace
