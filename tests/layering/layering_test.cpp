// Data flows one way: a room may include what stands before it in this list, never what stands
// after it; a subcommand includes no other subcommand; and only net/ sees MPI.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::array<std::string_view, 21> layers{
    "core",    "graph",    "plan",  "privacy", "views",    "design", "trust",
    "noise",   "sums",     "learn", "net",     "agent",    "config", "tasks",
    "options", "planning", "store", "account", "training", "audit",  "commands"};

long layer_of(std::string_view folder) {
    const auto* const found = std::find(layers.begin(), layers.end(), folder);
    return found == layers.end() ? -1 : found - layers.begin();
}

/// The first and the second folder of a path; the second is empty where a file follows the first.
struct Place {
    std::string room, inner;
};

Place place_of(const std::string& path) {
    const std::size_t first = path.find('/');
    if (first == std::string::npos) return {path, {}};
    const std::size_t second = path.find('/', first + 1);
    return {
        path.substr(0, first),
        second == std::string::npos ? std::string() : path.substr(first + 1, second - first - 1)};
}

/// Subcommands that are made of others: what each may include.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> made_of{
    {{"compare", "plan"}, {"compare", "sweep"}, {"audit", "report"}, {"watch", "report"}}};

/// What is wrong with one include of a file in `user`; empty if nothing is.
std::string violation_of(const Place& user, const std::string& header) {
    if (header == "mpi.h") return user.room == "net" ? "" : "mpi.h is included outside net/";
    if (header.find("..") != std::string::npos)
        return "'" + header + "' leaves its folder by a relative path";
    const bool installed = header.starts_with("sotto/");
    const Place used = place_of(installed ? header.substr(6) : header);
    if (layer_of(used.room) < 0) return installed ? "'" + header + "' is in no known folder" : "";
    if (layer_of(used.room) > layer_of(user.room))
        return "'" + header + "' stands after " + user.room;
    const bool command_in_command =
        user.room == "commands" && used.room == "commands" && used.inner != user.inner &&
        used.inner != "cli" && user.inner != "cli" &&
        std::ranges::find(made_of,
                          std::pair<std::string_view, std::string_view>(user.inner, used.inner)) ==
            made_of.end();
    return command_in_command ? "'" + header + "' is of another subcommand than " + user.inner : "";
}

/// What is wrong with the includes of one file (its path below src or include/sotto); one sentence
/// each.
std::vector<std::string> violations_in(const std::string& path, const std::string& text) {
    const Place user = place_of(path);
    if (layer_of(user.room) < 0)
        return {"folder '" + user.room + "' has no place in the order of folders"};
    std::vector<std::string> violations;
    static const std::regex include(R"(^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]*)[>"])");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (!std::regex_search(line, match, include)) continue;
        const std::string violation = violation_of(user, match[1]);
        if (!violation.empty()) violations.push_back(violation);
    }
    return violations;
}

bool is_source(const std::filesystem::path& path) {
    const std::string extension = path.extension().string();
    return extension == ".hpp" || extension == ".cpp" || extension == ".h" || extension == ".inc";
}

struct Scan {
    int files = 0;
    std::vector<std::string> violations;
};

Scan scan(const std::filesystem::path& root) {
    Scan result;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
        if (!entry.is_regular_file() || !is_source(entry.path())) continue;
        ++result.files;
        const std::filesystem::path inside = std::filesystem::relative(entry.path(), root);
        std::ifstream stream(entry.path());
        std::ostringstream text;
        text << stream.rdbuf();
        for (const auto& violation : violations_in(inside.string(), text.str()))
            result.violations.push_back(inside.string() + ": " + violation);
    }
    return result;
}

/// What the pattern finds in a file of the project, in order.
std::vector<std::string> found_in(const char* file, const std::regex& pattern) {
    std::ifstream stream(std::filesystem::path(SOTTO_SOURCE_DIR) / file);
    std::vector<std::string> found;
    for (std::string line; std::getline(stream, line);) {
        std::smatch match;
        if (std::regex_search(line, match, pattern)) found.push_back(match[1]);
    }
    return found;
}

TEST(Layering, IsTheSameInTheBuildAndInItsPage) {
    const std::vector<std::string> rooms(layers.begin(), layers.end());
    EXPECT_EQ(found_in("src/CMakeLists.txt", std::regex(R"(^sotto_library\((\w+) )")), rooms);
    EXPECT_EQ(found_in("docs/architecture.md", std::regex(R"(^\| `(\w+)/` \|)")), rooms);
}

TEST(Layering, EveryHeaderIncludesOnlyWhatStandsBeforeIt) {
    const Scan headers = scan(std::filesystem::path(SOTTO_SOURCE_DIR) / "include" / "sotto");
    EXPECT_GT(headers.files, 10);
    EXPECT_LE(headers.files, 25) << "what is installed is small";
    EXPECT_EQ(headers.violations, std::vector<std::string>{});
}

TEST(Layering, EverySourceIncludesOnlyWhatStandsBeforeIt) {
    const Scan sources = scan(std::filesystem::path(SOTTO_SOURCE_DIR) / "src");
    EXPECT_GT(sources.files, 40);
    EXPECT_EQ(sources.violations, std::vector<std::string>{});
}

TEST(Layering, PythonUsesTheTableOfCommandsAndNoSubcommand) {
    const std::filesystem::path folder = std::filesystem::path(SOTTO_SOURCE_DIR) / "python" / "src";
    const std::regex pattern(R"x(^#include "(commands/[^"]*)")x");
    std::vector<std::string> used;
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (!is_source(entry.path())) continue;
        ++files;
        const std::string name = "python/src/" + entry.path().filename().string();
        std::ranges::copy(found_in(name.c_str(), pattern), std::back_inserter(used));
    }
    EXPECT_GT(files, 5);
    EXPECT_EQ(used, std::vector<std::string>{"commands/cli/command.hpp"});
}

TEST(LayeringCheck, AcceptsOwnAndEarlierFoldersAndOtherLibraries) {
    EXPECT_TRUE(violations_in("design",
                              "#include <vector>\n#include <Eigen/Dense>\n"
                              "#include \"sotto/design/utility.hpp\"\n"
                              "#include \"sotto/core/error.hpp\"\n#include \"private.hpp\"\n")
                    .empty());
    EXPECT_TRUE(violations_in("net", "#include <mpi.h>\n").empty());
    EXPECT_TRUE(violations_in("core", "// see net/network.hpp\n").empty());
}

TEST(LayeringCheck, FindsAnIncludeOfALaterFolderHoweverItIsWritten) {
    for (const char* line : {"#include \"sotto/net/network.hpp\"\n",
                             "#include <sotto/net/network.hpp>\n",
                             "  #  include  \"sotto/net/network.hpp\"  // why\n",
                             "#include \"sotto/net/network.hpp\"\r\n",
                             "int x;\n#include\"sotto/net/network.hpp\""})
        EXPECT_EQ(violations_in("learn", line),
                  (std::vector<std::string>{"'sotto/net/network.hpp' stands after learn"}))
            << line;
    // Every pair in the wrong order is found, and no other.
    for (const auto& user : layers)
        for (const auto& used : layers) {
            const std::string text = "#include \"sotto/" + std::string(used) + "/x.hpp\"\n";
            EXPECT_EQ(violations_in(std::string(user), text).empty(),
                      layer_of(used) <= layer_of(user))
                << user << " includes " << used;
        }
}

TEST(LayeringCheck, FindsMpiOutsideNet) {
    for (const char* line : {"#include <mpi.h>\n", "#include \"mpi.h\"\n", "# include <mpi.h>\n"})
        for (const char* folder : {"core", "agent", "commands"})
            EXPECT_EQ(violations_in(folder, line).size(), 1U) << folder << ": " << line;
}

TEST(LayeringCheck, FindsFoldersOutsideTheOrderAndRelativePaths) {
    EXPECT_EQ(violations_in("run", "").size(), 1U);
    EXPECT_EQ(violations_in("tasks", "#include \"sotto/run/x.hpp\"\n").size(), 1U);
    EXPECT_EQ(violations_in("core", "#include \"../net/mpi_call.hpp\"\n").size(), 1U);
}

TEST(LayeringCheck, FindsPrivateHeadersOfLaterRoomsAndOfOtherSubcommands) {
    EXPECT_EQ(violations_in("tasks/task.cpp", "#include \"training/x.hpp\"\n"),
              (std::vector<std::string>{"'training/x.hpp' stands after tasks"}));
    EXPECT_EQ(
        violations_in("commands/plan/a.cpp", "#include \"commands/train/x.hpp\"\n"),
        (std::vector<std::string>{"'commands/train/x.hpp' is of another subcommand than plan"}));
    for (const char* allowed : {"commands/plan/x.hpp", "commands/cli/x.hpp", "tasks/task.hpp"})
        EXPECT_TRUE(
            violations_in("commands/plan/a.cpp", "#include \"" + std::string(allowed) + "\"\n")
                .empty())
            << allowed;
}

}  // namespace
