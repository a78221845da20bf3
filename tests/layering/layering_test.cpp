// Data flows one way: a folder may include what stands before it in this list, never what stands
// after it; and only net/ sees MPI.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::array<std::string_view, 11> layers{"core",
                                                  "graph",
                                                  "plan",
                                                  "privacy",
                                                  "noise",
                                                  "trust",
                                                  "learn",
                                                  "net",
                                                  "agent",
                                                  "experiment",
                                                  "cli"};

long layer_of(std::string_view folder) {
    const auto* const found = std::find(layers.begin(), layers.end(), folder);
    return found == layers.end() ? -1 : found - layers.begin();
}

/// What is wrong with the includes of one file of a folder; one sentence each.
std::vector<std::string> violations_in(const std::string& folder, const std::string& text) {
    std::vector<std::string> violations;
    if (layer_of(folder) < 0) {
        violations.push_back("folder '" + folder + "' has no place in the order of folders");
        return violations;
    }
    static const std::regex include(R"(^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]*)[>"])");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (!std::regex_search(line, match, include)) continue;
        const std::string header = match[1];
        if (header == "mpi.h" && folder != "net")
            violations.push_back("mpi.h is included outside net/");
        if (header.find("..") != std::string::npos)
            violations.push_back("'" + header + "' leaves its folder by a relative path");
        if (!header.starts_with("sotto/")) continue;
        const std::string used = header.substr(6, header.find('/', 6) - 6);
        if (layer_of(used) < 0)
            violations.push_back("'" + header + "' is in no known folder");
        else if (layer_of(used) > layer_of(folder))
            violations.push_back("'" + header + "' stands after " + folder);
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
        for (const auto& violation : violations_in(inside.begin()->string(), text.str()))
            result.violations.push_back(inside.string() + ": " + violation);
    }
    return result;
}

TEST(Layering, EveryHeaderIncludesOnlyWhatStandsBeforeIt) {
    const Scan headers = scan(std::filesystem::path(SOTTO_SOURCE_DIR) / "include" / "sotto");
    EXPECT_GT(headers.files, 30);
    EXPECT_EQ(headers.violations, std::vector<std::string>{});
}

TEST(Layering, EverySourceIncludesOnlyWhatStandsBeforeIt) {
    const Scan sources = scan(std::filesystem::path(SOTTO_SOURCE_DIR) / "src");
    EXPECT_GT(sources.files, 40);
    EXPECT_EQ(sources.violations, std::vector<std::string>{});
}

TEST(LayeringCheck, AcceptsOwnAndEarlierFoldersAndOtherLibraries) {
    EXPECT_TRUE(violations_in("noise",
                              "#include <vector>\n#include <Eigen/Dense>\n"
                              "#include \"sotto/noise/utility.hpp\"\n"
                              "#include \"sotto/core/error.hpp\"\n#include \"private.hpp\"\n")
                    .empty());
    EXPECT_TRUE(violations_in("net", "#include <mpi.h>\n").empty());
    EXPECT_TRUE(violations_in("core", "// see sotto/net/network.hpp\n").empty());
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
        for (const char* folder : {"core", "agent", "cli"})
            EXPECT_EQ(violations_in(folder, line).size(), 1U) << folder << ": " << line;
}

TEST(LayeringCheck, FindsFoldersOutsideTheOrderAndRelativePaths) {
    EXPECT_EQ(violations_in("audit", "").size(), 1U);
    EXPECT_EQ(violations_in("cli", "#include \"sotto/audit/x.hpp\"\n").size(), 1U);
    EXPECT_EQ(violations_in("core", "#include \"../net/mpi_call.hpp\"\n").size(), 1U);
}

}  // namespace
