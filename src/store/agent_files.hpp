#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

/// What is to be written for one agent: the concatenation of the parts.
struct AgentContent {
    int agent = 0;
    std::vector<std::string_view> parts;
};

/// The files of one kind in a folder, told by their ending, each of the agents of one process:
/// agent-<number><ending> with the agent's bytes alone, or, for several agents,
/// agents-<first>-<last><ending>: "sottoags", version and number of agents (32 bits each), for each
/// agent its number (32 bits) and the length of its bytes (64 bits), then the bytes of all.
class AgentFiles {
  public:
    /// Reads which agents the files hold, O(agents). A file whose list is damaged counts as one of
    /// all agents from first to last, of which none can be read. No folder: no agents.
    AgentFiles(const std::filesystem::path& folder, std::string_view ending);

    [[nodiscard]] bool has(int agent) const { return !files_of(agent).empty(); }
    /// The file that holds an agent's bytes; the path that it would have alone if there is none.
    [[nodiscard]] std::filesystem::path file_of(int agent) const;
    /// The agent's bytes. @throws DataError naming the file: it is missing, its list is damaged,
    /// or the agent's bytes are cut short or more than most_array_bytes().
    [[nodiscard]] std::string read(int agent) const;
    /// All files that hold one of the agents.
    [[nodiscard]] std::vector<std::filesystem::path> files_of(std::span<const int> agents) const;

  private:
    struct Part {
        int agent = 0;
        std::uint64_t offset = 0, size = 0;
    };
    struct File {
        std::filesystem::path path;
        int first = 0, last = 0;
        bool damaged = false;
        std::vector<Part> parts;  // ascending by agent; none for one agent alone
    };
    [[nodiscard]] static File opened(const std::filesystem::path& path, int first, int last);
    [[nodiscard]] static const Part* part_of(const File& file, int agent);
    [[nodiscard]] std::vector<const File*> files_of(int agent) const;

    std::filesystem::path folder_;
    std::string ending_;
    std::vector<File> files_;
};

/// Writes the file of a process with these agents, mode 0600, atomically and flushed to disk.
/// @param agents at least one, ascending.  @return its path.
/// @throws as throw_write_failure, with path and reason.
std::filesystem::path write_agent_file(const std::filesystem::path& folder,
                                       std::string_view ending,
                                       std::span<const AgentContent> agents);

}  // namespace sotto
