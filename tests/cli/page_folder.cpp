#include "page_folder.hpp"

#include <cstdlib>
#include <sstream>

namespace sotto::test {

namespace fs = std::filesystem;

namespace {

/// Commands that make the files which others name.
std::vector<std::string> commands_that_make_files() {
    std::vector<std::string> commands;
    std::string section;
    bool in_block = false;
    for (const std::string& line : lines_of(content_of(SOTTO_SOURCE_DIR "/docs/papers.md"))) {
        if (line.starts_with("## ")) section = line.substr(3);
        if (line.starts_with("```"))
            in_block = !in_block;
        else if (in_block && section == "Files")
            commands.push_back(line);
    }
    return commands;
}

}  // namespace

PageFolder::PageFolder() {
    for (const char* folder : {"bench", "examples"})
        fs::create_directory_symlink(fs::path(SOTTO_SOURCE_DIR) / folder, folder_.path() / folder);
    const char* data = std::getenv("SOTTO_DATA_DIR");
    if (data != nullptr && *data != '\0')
        for (const auto& file : fs::directory_iterator(fs::absolute(data)))
            fs::create_symlink(file.path(), folder_.path() / file.path().filename());
    for (const std::string& command : commands_that_make_files()) {
        const Outcome outcome = run(command);
        // Python without numpy makes none of its files, and commands that name them are skipped.
        const bool may_fail = command.starts_with("python3 ");
        EXPECT_TRUE(may_fail || outcome.exit_code == 0) << command << '\n' << outcome.text();
    }
}

Outcome PageFolder::run(const std::string& command) const {
    const Arguments program = sotto_command(1, {});
    const fs::path folder_of_program = fs::path(program.back()).parent_path();
    const char* script =
        "PATH=\"$1:/usr/bin:$PATH\"; launcher=$2; mpirun() { \"$launcher\" \"$@\"; }; eval \"$3\"";
    return Process({"sh", "-e", "-c", script, "sh", folder_of_program, program.front(), command},
                   folder_.path())
        .wait();
}

std::string PageFolder::missing_file(const std::string& command) const {
    std::istringstream words(command);
    for (std::string word; words >> word;) {
        const std::string ending = fs::path(word).extension();
        const bool is_data = ending == ".gz" || ending == ".edges" || ending == ".npy";
        if (is_data && !fs::exists(folder_.path() / word)) return word;
    }
    return "";
}

}  // namespace sotto::test
