// How the house is kept: functions fit a screen, sources have one subject, a header and a test of
// their name.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layering/source_text.hpp"

namespace sotto::layering {
namespace {

namespace fs = std::filesystem;

constexpr int most_lines_of_a_function = 70;
constexpr int most_lines_of_a_source = 800;

struct Exception {
    std::string_view file, reason;
};

/// Functions and sources that may be longer; at most five.
constexpr std::array<Exception, 0> longer_than_allowed{};

/// Sources that compute nothing of their own, and what tests them instead.
constexpr std::array<Exception, 4> without_a_test_of_their_name{{
    {"src/commands/cli/main.cpp", "calls run_program; every test in tests/cli runs it"},
    {"src/commands/cli/write_option_pages.cpp",
     "a program that writes the pages of option_pages.cpp, manual_pages.cpp and "
     "shell_completions.cpp, which their tests and tests/install look at"},
    {"src/core/write_picture.cpp",
     "a program that draws with picture.cpp what it reads; tests/figures runs it"},
    {"src/design/mechanisms/table.cpp",
     "the list of mechanisms; tests/design/mechanism_test.cpp goes through all of them"},
}};

/// Sources that only define main.
bool is_program(const fs::path& source) {
    return source.filename() == "main.cpp" || source.filename().string().starts_with("write_");
}

bool is_exception(std::span<const Exception> exceptions, const std::string& file) {
    return std::ranges::any_of(exceptions, [&](const Exception& one) { return one.file == file; });
}

std::vector<fs::path> all_sources() {
    std::vector<fs::path> files = sources_below(root / "src");
    for (auto& file : sources_below(root / "include")) files.push_back(std::move(file));
    return files;
}

std::string in_project(const fs::path& file) { return fs::relative(file, root).string(); }

TEST(Structure, NoFunctionIsLongerThanAScreen) {
    long functions = 0;
    std::vector<std::string> longer;
    for (const fs::path& file : all_sources())
        for (const FunctionLength& function : functions_of(text_of(file))) {
            ++functions;
            if (function.lines > most_lines_of_a_function &&
                !is_exception(longer_than_allowed, in_project(file)))
                longer.push_back(in_project(file) + ":" + std::to_string(function.first_line) +
                                 " " + function.name + ": " + std::to_string(function.lines));
        }
    EXPECT_GT(functions, 1500) << "functions are no longer found";
    EXPECT_EQ(longer, std::vector<std::string>{});
}

TEST(Structure, NoSourceIsLongerThanItMayBe) {
    std::vector<std::string> longer;
    for (const fs::path& file : all_sources()) {
        const std::string text = text_of(file);
        const auto lines = std::ranges::count(text, '\n');
        if (lines > most_lines_of_a_source && !is_exception(longer_than_allowed, in_project(file)))
            longer.push_back(in_project(file) + ": " + std::to_string(lines));
    }
    EXPECT_EQ(longer, std::vector<std::string>{});
}

TEST(Structure, EveryExceptionIsNeededAndThereAreFew) {
    EXPECT_LE(longer_than_allowed.size(), 5U);
    for (const auto& [file, reason] : longer_than_allowed) {
        EXPECT_TRUE(fs::exists(root / file)) << file;
        EXPECT_GT(reason.size(), 20U) << file;
    }
    for (const auto& [file, reason] : without_a_test_of_their_name) {
        EXPECT_TRUE(fs::exists(root / file)) << file;
        EXPECT_GT(reason.size(), 20U) << file;
    }
}

/// Where the header of a source may stand. Functions that make records of a table stand in the
/// header of the table, as subcommands do (commands/cli/command.hpp).
bool has_its_header(const fs::path& source) {
    fs::path header = source;
    header.replace_extension(".hpp");
    if (fs::exists(header)) return true;
    if (fs::exists(root / "include" / "sotto" / fs::relative(header, root / "src"))) return true;
    const bool subcommand = fs::relative(source, root / "src").begin()->string() == "commands" &&
                            source.stem().string().ends_with("_command");
    return subcommand || fs::exists(source.parent_path() / "table.hpp");
}

TEST(Structure, EverySourceHasTheHeaderOfItsName) {
    std::vector<std::string> alone;
    for (const fs::path& file : sources_below(root / "src"))
        if (file.extension() == ".cpp" && !is_program(file) && !has_its_header(file))
            alone.push_back(in_project(file));
    EXPECT_EQ(alone, std::vector<std::string>{});
}

/// Whether a test of the program runs the subcommand.
bool is_run_by_a_test(const std::string& subcommand) {
    const std::vector<fs::path> tests = sources_below(root / "tests" / "cli");
    return std::ranges::any_of(tests, [&](const fs::path& test) {
        return text_of(test).find("\"" + subcommand + "\"") != std::string::npos;
    });
}

/// A test of a source stands where the source stands, or, where it needs ranks, in tests/mpi. A
/// subcommand hands what it is given to its job and prints the result: tests/cli runs it. What else
/// it does is in its header, and has a test of its name.
bool has_its_test(const fs::path& source) {
    constexpr std::string_view command = "_command";
    const fs::path inside = fs::relative(source, root / "src");
    const std::string stem = source.stem().string();
    const std::string room = inside.begin()->string();
    const std::string name = stem + "_test.cpp";
    const bool tested = fs::exists(root / "tests" / inside.parent_path() / name) ||
                        (room == "net" && fs::exists(root / "tests" / "mpi" / name));
    if (room != "commands" || !stem.ends_with(command)) return tested;
    const bool alone = !fs::exists(fs::path(source).replace_extension(".hpp"));
    return (alone || tested) && is_run_by_a_test(stem.substr(0, stem.size() - command.size()));
}

TEST(Structure, EverySourceThatComputesHasATestOfItsName) {
    std::vector<std::string> untested;
    for (const fs::path& file : sources_below(root / "src"))
        if (file.extension() == ".cpp" && !has_its_test(file) &&
            !is_exception(without_a_test_of_their_name, in_project(file)))
            untested.push_back(in_project(file));
    EXPECT_EQ(untested, std::vector<std::string>{});
}

TEST(StructureCheck, CountsFunctionsAsAReaderDoes) {
    const std::string text =
        "#include <x>\n"
        "namespace a {\n"
        "// int comment() {\n"
        "template <class T>\n"
        "int first(T x) {\n"
        "    if (x) { return 1; }\n"
        "    const char* brace = \"}{\";\n"
        "    return '{';\n"
        "}\n"
        "class Second {\n"
        "  public:\n"
        "    Second() : a_{1}, b_{2} {\n"
        "        a_ = 3;\n"
        "    }\n"
        "    int get() const { return a_; }\n"
        "  private:\n"
        "    int a_ = 0, b_{0};\n"
        "};\n"
        "const int table[] = {1, 2};\n"
        "void third() try {\n"
        "    f();\n"
        "} catch (const E& e) {\n"
        "    g();\n"
        "}\n"
        "}\n";
    std::vector<std::string> found;
    for (const FunctionLength& one : functions_of(text))
        found.push_back(one.name + " " + std::to_string(one.first_line) + " " +
                        std::to_string(one.lines));
    EXPECT_EQ(found,
              (std::vector<std::string>{"first 4 6", "Second 12 3", "get 15 1", "third 20 5"}));
}

TEST(StructureCheck, BlanksWhatIsNoCode) {
    EXPECT_EQ(without_words("a // {\nb"), "a     \nb");
    EXPECT_EQ(without_words("R\"(})\" {"), "       {");
    EXPECT_EQ(without_words("#define X {\\\n }\n{"), std::string(12, ' ') + "\n  \n{");
    EXPECT_EQ(without_words("1'000'000{'{'}"), "1'000'000{   }");
}

}  // namespace
}  // namespace sotto::layering
