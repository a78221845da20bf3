#include "tasks/data_digests.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sotto/trust/secret.hpp"

namespace sotto {

namespace {

void add_files(Hasher& hasher, const std::vector<FileDigest>& files) {
    hasher.add(static_cast<std::int64_t>(files.size()));
    for (const FileDigest& file : files) hasher.add(file.option).add_bytes(file.digest);
}

}  // namespace

Digest digest_of_partition(const std::vector<std::vector<Eigen::Index>>& shards) {
    Hasher hasher("sotto.partition.v1");
    for (const auto& rows : shards)
        hasher.add_bytes({reinterpret_cast<const std::uint8_t*>(rows.data()),
                          rows.size() * sizeof(Eigen::Index)});
    return hasher.finish();
}

Digest digest_of_agent(const DataDigests& digests, std::size_t local_index) {
    Hasher hasher("sotto.agent-data.v1");
    add_files(hasher, digests.shared);
    add_files(hasher,
              digests.own.empty() ? std::vector<FileDigest>{} : digests.own.at(local_index));
    if (digests.partition) hasher.add_bytes(*digests.partition);
    return hasher.finish();
}

Digest committed(const Digest& key, const Digest& of_agent) {
    Hasher hasher("sotto.data-commitment.v1");
    return hasher.add_bytes(key).add_bytes(of_agent).finish();
}

DataCommitment commit_to_data(const Digest& of_agent) {
    DataCommitment commitment;
    const SecretKey key = SecretKey::random();
    std::ranges::copy(key.bytes(), commitment.key.begin());
    commitment.value = committed(commitment.key, of_agent);
    return commitment;
}

std::string data_json(const DataDigests& digests,
                      std::size_t local_index,
                      const DataCommitment& commitment) {
    using Json = nlohmann::ordered_json;
    Json json{{"format", "sotto-data"}, {"version", 1}};
    json["files"] = Json::array();
    const auto add = [&](const std::vector<FileDigest>& files) {
        for (const FileDigest& file : files)
            json["files"].push_back({{"option", file.option},
                                     {"file", file.path},
                                     {"records", file.records},
                                     {"blake2b", to_hex(file.digest)}});
    };
    if (!digests.own.empty()) add(digests.own.at(local_index));
    add(digests.shared);
    json["partition"] = digests.partition ? Json(to_hex(*digests.partition)) : Json();
    json["blake2b"] = to_hex(digest_of_agent(digests, local_index));
    json["key"] = to_hex(commitment.key);
    json["commitment"] = to_hex(commitment.value);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sotto
