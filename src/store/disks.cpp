#include "store/disks.hpp"

#include <fmt/format.h>

#include <map>

#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "store/folders.hpp"

namespace sotto {

namespace fs = std::filesystem;

std::vector<int> disks_of(const fs::path& folder, Network& network, const std::string& token) {
    const auto file_of = [&](int process) {
        return folder / fmt::format("disk-{}-{}", token, process);
    };
    const fs::path own = file_of(network.process());
    network.agree([&] {
        create_folder(folder);
        (void)create_file(own, "\n", Readers::owner);
    });
    ByteWriter seen;
    for (int p = 0; p < network.processes(); ++p) {
        std::error_code unseen;
        if (!fs::exists(file_of(p), unseen)) continue;
        seen.put(std::int32_t{p});
        break;
    }
    const auto all = network.all_gather(seen.take(), sizeof(std::int32_t));
    std::error_code ignored;
    fs::remove(own, ignored);
    std::vector<int> disks;
    network.agree([&] {
        for (std::size_t p = 0; p < all.size(); ++p) {
            ByteReader reader(all[p], fmt::format("the word of rank {} on its disk", p));
            const auto lowest = reader.get<std::int32_t>();
            if (lowest < 0 || lowest > static_cast<int>(p)) reader.fail();
            disks.push_back(lowest);
        }
    });
    return disks;
}

std::vector<int> keepers_on(const std::vector<int>& disks) {
    std::map<int, std::vector<int>> processes;
    for (std::size_t p = 0; p < disks.size(); ++p)
        processes[disks[p]].push_back(static_cast<int>(p));
    if (processes.size() < 2) return {};
    std::vector<int> keepers(disks.size());
    for (auto disk = processes.begin(); disk != processes.end(); ++disk) {
        const auto next = std::next(disk) == processes.end() ? processes.begin() : std::next(disk);
        for (std::size_t i = 0; i < disk->second.size(); ++i)
            keepers[static_cast<std::size_t>(disk->second[i])] =
                next->second[i % next->second.size()];
    }
    return keepers;
}

}  // namespace sotto
