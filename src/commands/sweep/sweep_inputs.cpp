#include "commands/sweep/sweep_inputs.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "config/agent_path.hpp"
#include "options/train_options.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"

namespace sotto {

namespace {

/// Of the whole content, read piece by piece.
std::string file_digest(const std::string& name) {
    Hasher hasher("sotto.sweep.file.v1");
    std::ifstream file(name, std::ios::binary);
    std::vector<char> piece(1 << 20);
    do {
        file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        hasher.add(std::string_view(piece.data(), static_cast<std::size_t>(file.gcount())));
    } while (file);
    if (!file.eof()) throw DataError(fmt::format("{}: cannot be read", name));
    return to_hex(hasher.finish());
}

}  // namespace

std::map<std::string, std::string> file_digests(const SweepConfig& config) {
    std::map<std::string, std::string> digests;
    for (const SweepVariant& variant : config.variants)
        for (const SweepSetting& setting : variant.settings) {
            // A budget account changes with every training.
            if (!changes_results(setting.option)) continue;
            for (const std::string& value : setting.values)
                for (const std::string& word : listed_files(value, 0))
                    if (std::error_code none; std::filesystem::is_regular_file(word, none))
                        digests.try_emplace(word);
        }
    for (auto& [name, digest] : digests) digest = file_digest(name);
    return digests;
}

}  // namespace sotto
