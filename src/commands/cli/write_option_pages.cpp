// Writes the pages of docs/cli: sotto_option_pages FOLDER.

#include <fmt/format.h>

#include <exception>
#include <filesystem>

#include "commands/cli/command_table.hpp"
#include "commands/cli/option_pages.hpp"
#include "sotto/core/files.hpp"

int main(int argc, char** argv) try {
    if (argc != 2) {
        fmt::print(stderr, "usage: sotto_option_pages FOLDER\n");
        return 2;
    }
    for (const auto& page : sotto::cli::option_pages(sotto::cli::commands()))
        sotto::write_file_atomically(std::filesystem::path(argv[1]) / page.file, page.text);
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "sotto_option_pages: {}\n", error.what());
    return 1;
}
