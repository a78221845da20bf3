#include "store/agent_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "core/bytes.hpp"
#include "core/files.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view bundle_magic = "sottoags";
constexpr std::uint32_t bundle_version = 1;
constexpr std::size_t bundle_head = bundle_magic.size() + 2 * sizeof(std::uint32_t);
constexpr std::size_t list_entry = sizeof(std::int32_t) + sizeof(std::uint64_t);

fs::path path_of_agents(const fs::path& folder, std::string_view ending, int first, int last) {
    return folder / (first == last ? fmt::format("agent-{}{}", first, ending)
                                   : fmt::format("agents-{}-{}{}", first, last, ending));
}

/// First and last agent, of the name of a file.
std::optional<std::pair<int, int>> agents_of_name(const fs::path& file, std::string_view ending) {
    const std::string name = file.filename();
    if (!name.starts_with("agent") || !name.ends_with(ending)) return std::nullopt;
    const std::size_t dash = name.find('-');
    if (dash == std::string::npos) return std::nullopt;
    int first = 0, last = 0;
    const char* const end = name.data() + name.size() - ending.size();
    auto [at, failure] = std::from_chars(name.data() + dash + 1, end, first);
    if (failure != std::errc()) return std::nullopt;
    last = first;
    if (at != end && *at == '-') (void)std::from_chars(at + 1, end, last);
    if (first < 0 || last < first ||
        path_of_agents(file.parent_path(), ending, first, last) != file)
        return std::nullopt;
    return std::pair(first, last);
}

/// So many bytes, or fewer where the file ends.
std::string read_bytes(RegularFile& file, std::uint64_t size) {
    std::string bytes(static_cast<std::size_t>(size), '\0');
    bytes.resize(file.read(bytes.data(), bytes.size()));
    return bytes;
}

}  // namespace

AgentFiles::AgentFiles(const fs::path& folder, std::string_view ending)
    : folder_(folder), ending_(ending) {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(folder, missing))
        if (const auto agents = agents_of_name(entry.path(), ending))
            files_.push_back(opened(entry.path(), agents->first, agents->second));
    std::ranges::sort(files_, {}, &File::path);
}

AgentFiles::File AgentFiles::opened(const fs::path& path, int first, int last) {
    File file{path, first, last, false, {}};
    if (first == last) return file;
    try {
        RegularFile source(path);
        const std::string head =
            read_bytes(source, std::min<std::uint64_t>(source.size(), bundle_head));
        ByteReader reader(head, path.string());
        if (!head.starts_with(bundle_magic)) reader.fail();
        (void)reader.get<std::array<char, bundle_magic.size()>>();
        if (reader.get<std::uint32_t>() != bundle_version) reader.fail();
        const auto count = reader.get<std::uint32_t>();
        if (source.size() < bundle_head + count * std::uint64_t{list_entry}) reader.fail();
        const std::string list = read_bytes(source, count * std::uint64_t{list_entry});
        ByteReader entries(list, path.string());
        std::uint64_t offset = bundle_head + list.size();
        while (!entries.done()) {
            const auto agent = entries.get<std::int32_t>();
            const auto size = entries.get<std::uint64_t>();
            const int before = file.parts.empty() ? first - 1 : file.parts.back().agent;
            if (agent <= before || agent > last || size > source.size() - offset) entries.fail();
            file.parts.push_back({agent, offset, size});
            offset += size;
        }
        file.damaged = file.parts.size() < 2 || file.parts.front().agent != first ||
                       file.parts.back().agent != last || offset != source.size();
    } catch (const Error&) {
        file.damaged = true;
    }
    return file;
}

const AgentFiles::Part* AgentFiles::part_of(const File& file, int agent) {
    const auto found = std::ranges::lower_bound(file.parts, agent, {}, &Part::agent);
    return found != file.parts.end() && found->agent == agent ? &*found : nullptr;
}

std::vector<const AgentFiles::File*> AgentFiles::files_of(int agent) const {
    std::vector<const File*> found;
    for (const File& file : files_)
        if (file.first <= agent && agent <= file.last &&
            (file.first == file.last || file.damaged || part_of(file, agent) != nullptr))
            found.push_back(&file);
    return found;
}

fs::path AgentFiles::file_of(int agent) const {
    const auto found = files_of(agent);
    return found.empty() ? path_of_agents(folder_, ending_, agent, agent) : found.front()->path;
}

std::string AgentFiles::read(int agent) const {
    const auto found = files_of(agent);
    if (found.empty() || found.front()->first == found.front()->last)
        return read_file(file_of(agent), most_array_bytes());
    const File& file = *found.front();
    if (file.damaged)
        throw DataError(fmt::format("{}: its list of agents is damaged", file.path.string()));
    const Part& part = *part_of(file, agent);
    if (part.size > most_array_bytes())
        throw DataError(fmt::format("{}: has {} bytes of agent {}, at most {} are read",
                                    file.path.string(),
                                    part.size,
                                    agent,
                                    most_array_bytes()));
    RegularFile source(file.path);
    source.skip_to(part.offset);
    std::string bytes = read_bytes(source, part.size);
    if (bytes.size() < part.size)
        throw DataError(fmt::format("{}: is cut short", file.path.string()));
    return bytes;
}

std::vector<fs::path> AgentFiles::files_of(std::span<const int> agents) const {
    std::set<fs::path> found;
    for (const int agent : agents)
        for (const File* file : files_of(agent)) found.insert(file->path);
    return {found.begin(), found.end()};
}

fs::path write_agent_file(const fs::path& folder,
                          std::string_view ending,
                          std::span<const AgentContent> agents) {
    const fs::path path = path_of_agents(folder, ending, agents.front().agent, agents.back().agent);
    std::string head;
    std::vector<std::string_view> parts;
    if (agents.size() > 1) {
        ByteWriter list;
        list.put(bundle_version);
        list.put(static_cast<std::uint32_t>(agents.size()));
        for (const AgentContent& own : agents) {
            std::uint64_t size = 0;
            for (const std::string_view part : own.parts) size += part.size();
            list.put(std::int32_t{own.agent});
            list.put(size);
        }
        head = std::string(bundle_magic) + list.take();
        parts.push_back(head);
    }
    for (const AgentContent& own : agents)
        parts.insert(parts.end(), own.parts.begin(), own.parts.end());
    write_file_atomically(path, parts, Readers::owner);
    return path;
}

}  // namespace sotto
