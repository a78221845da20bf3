// Writes what the options' declarations say, for people and shells:
//   sotto_option_pages FOLDER               the pages of docs/cli
//   sotto_option_pages --installed FOLDER   manual pages (man1/) and completions (bash/, zsh/,
//   fish/)

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <string_view>

#include "commands/cli/command.hpp"
#include "commands/cli/manual_pages.hpp"
#include "commands/cli/option_pages.hpp"
#include "commands/cli/shell_completions.hpp"
#include "core/files.hpp"

namespace {

void write_below(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories(file.parent_path());
    sotto::write_file_atomically(file, text);
}

void write_installed(const std::filesystem::path& folder) {
    const auto& commands = sotto::cli::commands();
    for (const auto& page : sotto::cli::manual_pages(commands))
        write_below(folder / "man1" / page.file, page.text);
    write_below(folder / "bash" / "sotto", sotto::cli::bash_completion(commands));
    write_below(folder / "zsh" / "_sotto", sotto::cli::zsh_completion(commands));
    write_below(folder / "fish" / "sotto.fish", sotto::cli::fish_completion(commands));
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc == 3 && std::string_view(argv[1]) == "--installed") {
        write_installed(argv[2]);
        return 0;
    }
    if (argc != 2) {
        fmt::print(stderr, "usage: sotto_option_pages [--installed] FOLDER\n");
        return 2;
    }
    for (const auto& page : sotto::cli::option_pages(sotto::cli::commands()))
        sotto::write_file_atomically(std::filesystem::path(argv[1]) / page.file, page.text);
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "sotto_option_pages: {}\n", error.what());
    return 1;
}
