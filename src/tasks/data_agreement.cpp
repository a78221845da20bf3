#include "tasks/data_agreement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/bytes.hpp"
#include "core/host.hpp"
#include "sotto/core/error.hpp"
#include "trust/secret.hpp"

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

namespace {

constexpr std::size_t longest_host_name = 255;

/// Process 0's finding about another: the first entry that differs, or one of these.
constexpr std::int32_t same = -1, other_number = -2;

/// Shared files, then the partition.
std::vector<FileDigest> entries_of(const DataDigests& digests) {
    std::vector<FileDigest> entries = digests.shared;
    if (digests.partition) entries.push_back({"partition", "", 0, *digests.partition});
    return entries;
}

Digest tag_of(const SecretKey& pair_secret, std::size_t place, const FileDigest& entry) {
    SecretHash hash("sotto.data-tag.v1", pair_secret.derive("sottodat", place).bytes());
    hash.absorb({reinterpret_cast<const std::uint8_t*>(entry.option.data()), entry.option.size()});
    hash.absorb(entry.digest);
    const SecretKey finished = hash.finish();
    Digest tag{};
    std::ranges::copy(finished.bytes(), tag.begin());
    return tag;
}

/// What one process sends.
struct Shown {
    std::string host;
    std::vector<Digest> tags;
};

std::string packed(const Shown& shown) {
    ByteWriter writer;
    writer.put_text(shown.host);
    writer.put(static_cast<std::uint64_t>(shown.tags.size()));
    for (const Digest& tag : shown.tags) writer.put(tag);
    return writer.take();
}

Shown unpacked(std::string_view bytes, std::size_t rank) {
    ByteReader reader(bytes, fmt::format("what rank {} shows of its data", rank));
    Shown shown;
    shown.host = reader.get_text().substr(0, longest_host_name);
    const std::size_t count = reader.get_count(sizeof(Digest));
    for (std::size_t i = 0; i < count; ++i) shown.tags.push_back(reader.get<Digest>());
    reader.require_done();
    return shown;
}

/// Process 0's finding about one process.
std::int32_t finding(const Shown& shown,
                     const SecretKey& pair_secret,
                     const std::vector<FileDigest>& own) {
    if (shown.tags.size() != own.size()) return other_number;
    for (std::size_t i = 0; i < own.size(); ++i)
        if (shown.tags[i] != tag_of(pair_secret, i, own[i])) return static_cast<std::int32_t>(i);
    return same;
}

std::string name_of(const std::vector<Shown>& all, std::size_t rank) {
    return fmt::format("rank {} ({})", rank, all[rank].host);
}

/// "rank 2 (node1), rank 3 (node1) and 6 more".
std::string names_of(const std::vector<Shown>& all, const std::vector<std::size_t>& ranks) {
    constexpr std::size_t most_named = 8;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(ranks.size(), most_named); ++i)
        names.push_back(name_of(all, ranks[i]));
    std::string text = fmt::format("{}", fmt::join(names, ", "));
    if (ranks.size() > most_named) text += fmt::format(" and {} more", ranks.size() - most_named);
    return text;
}

/// For the ranks with this finding.
DataError difference(const std::vector<FileDigest>& own,
                     std::int32_t found,
                     const std::string& theirs,
                     const std::string& process_0) {
    if (found == other_number)
        return DataError(fmt::format(
            "data: {} read another number of files than {}, which reads {} (give all ranks the "
            "same --data and --test-data)",
            theirs,
            process_0,
            own.size()));
    const FileDigest& entry = own[static_cast<std::size_t>(found)];
    if (entry.option == "partition")
        return DataError(fmt::format(
            "partition: of the same records, {} dealt others to the agents than {} (run the same "
            "sotto on every host)",
            theirs,
            process_0));
    return DataError(
        fmt::format("{0}: {1} has other records on {2} than on {3}, or in another order (give all "
                    "hosts the same file{4})",
                    entry.option,
                    entry.path,
                    theirs,
                    process_0,
                    entry.option == "data" ? ", or each agent one of its own with %r" : ""));
}

}  // namespace

void require_same_data(Control& network,
                       std::vector<PairSecrets>& secrets,
                       const DataDigests& digests) {
    if (network.processes() == 1) return;
    const bool leader = network.process() == 0;
    const std::vector<FileDigest> own = entries_of(digests);
    Shown shown{local_host_name().substr(0, longest_host_name), {}};
    network.agree([&] {
        for (std::size_t i = 0; i < own.size(); ++i)
            shown.tags.push_back(leader ? Digest{} : tag_of(secrets.front().with(0), i, own[i]));
    });
    const auto gathered =
        network.all_gather(packed(shown), most_line_bytes + 2 * sizeof(Digest) * own.size());
    std::vector<Shown> all;
    ByteWriter findings;
    network.agree([&] {
        for (std::size_t p = 0; p < gathered.size(); ++p) all.push_back(unpacked(gathered[p], p));
        for (std::size_t p = 1; leader && p < all.size(); ++p)
            findings.put(finding(
                all[p], secrets.front().with(network.blocks().first(static_cast<int>(p))), own));
    });
    const std::string verdict = network.broadcast(
        findings.take(), sizeof(std::int32_t) * static_cast<std::uint64_t>(network.processes()));
    network.agree([&] {
        ByteReader reader(verdict, "what rank 0 found about the ranks' data");
        std::map<std::int32_t, std::vector<std::size_t>> differing;
        for (std::size_t p = 1; p < all.size(); ++p)
            if (const auto found = reader.get<std::int32_t>(); found != same) {
                if (found < other_number || found >= std::ssize(own)) reader.fail();
                differing[found].push_back(p);
            }
        reader.require_done();
        // Files before the partition, which depends on them.
        if (!differing.empty())
            throw difference(own,
                             differing.begin()->first,
                             names_of(all, differing.begin()->second),
                             name_of(all, 0));
    });
}

}  // namespace sotto
