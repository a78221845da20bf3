#include "config/peer_notes.hpp"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "core/json.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

NetworkError damaged(std::size_t rank, std::string_view purpose) {
    return NetworkError(fmt::format(
        "what rank {} sent {} is damaged; do all ranks run the same sotto?", rank, purpose));
}

}  // namespace

std::string to_json(const ProcessNote& note) {
    Json json;
    json["host"] = note.host;
    json["network"] = note.network;
    json["keys_locked"] = note.keys_locked;
    json["commitments"] = Json::array();
    for (const SeedCommitment& commitment : note.commitments)
        json["commitments"].push_back({{"agent", commitment.agent},
                                       {"group", commitment.group},
                                       {"blake2b", commitment.blake2b}});
    // A host name may not be UTF-8.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::uint64_t largest_note_bytes(const NoisePlan& plan, std::uint64_t agents) {
    constexpr std::uint64_t names = 4096, commitment = 160;
    return names + commitment * agents * plan.groups.size();
}

ProcessNote process_note_from_json(std::string_view text, std::size_t rank) {
    constexpr std::size_t digits = 64, longest_name = 4096;
    try {
        const JsonDocument document(text);
        const JsonValue json = document.root();
        ProcessNote note;
        note.host = json.at("host").text();
        note.network = json.at("network").text();
        note.keys_locked = json.at("keys_locked").boolean();
        if (note.host.size() > longest_name || note.network.size() > longest_name)
            throw damaged(rank, "for the manifest");
        for (const JsonValue& entry : json.at("commitments").items()) {
            SeedCommitment& commitment = note.commitments.emplace_back();
            commitment.agent = entry.at("agent").integer<int>();
            commitment.group = entry.at("group").integer<int>();
            commitment.blake2b = entry.at("blake2b").text();
            if (commitment.blake2b.size() != digits ||
                commitment.blake2b.find_first_not_of("0123456789abcdef") != std::string::npos)
                throw damaged(rank, "for the manifest");
        }
        return note;
    } catch (const DataError&) {
        throw damaged(rank, "for the manifest");
    }
}

std::string records_to_text(const std::vector<Eigen::Index>& records) {
    std::string text;
    for (const Eigen::Index count : records) text += fmt::format("{} ", count);
    return text;
}

std::vector<Eigen::Index> records_from_text(std::string_view text, std::size_t rank) {
    std::vector<Eigen::Index> records;
    for (const char *at = text.data(), *end = at + text.size(); at != end;) {
        Eigen::Index count = 0;
        const auto [next, status] = std::from_chars(at, end, count);
        if (status != std::errc() || count < 0 || next == end || *next != ' ')
            throw damaged(rank, "of its numbers of records");
        records.push_back(count);
        at = next + 1;
    }
    return records;
}

}  // namespace sotto
