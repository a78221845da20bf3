#include "audit/recorded_shares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "sotto/agent/recording/recorded_wire.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

constexpr Eigen::Index compared = 256;       // coordinates
constexpr std::uint64_t small = 1ULL << 56;  // of 2^64: one value in 2^7 is as small by chance
constexpr long most_small = 32;              // of 256, where 2 are expected

/// Words for one receiver, coordinates x exchanges.
WireRecord::Words shares_for(WireReader& reader, Eigen::Index neighbour) {
    const Eigen::Index rows = std::min(compared, reader.header().dimension);
    WireRecord::Words words(rows, static_cast<Eigen::Index>(reader.records()));
    WireRecord record;
    for (Eigen::Index time = 0; reader.next(record); ++time)
        words.col(time) = record.shares.col(neighbour).head(rows);
    return words;
}

bool nearly_equal(std::uint64_t a, std::uint64_t b) { return std::min(a - b, b - a) < small; }

}  // namespace

MaskCheck check_masks(const fs::path& folder, const View& view, const Graph& graph) {
    MaskCheck result;
    for (const int receiver : view.members) {
        const auto heard = graph.heard(receiver);
        if (heard.size() < 2) continue;  // its sum is the one neighbour's message
        for (const int sender : heard) {
            const fs::path file = folder / "wire" / std::to_string(sender) / "messages.bin";
            if (!fs::exists(file)) continue;
            WireReader reader(file);
            if (reader.header().content != WireContent::shares) continue;
            const auto& receivers = reader.header().neighbours;
            const auto place = std::ranges::lower_bound(receivers, receiver) - receivers.begin();
            const WireRecord::Words words = shares_for(reader, place);
            bool found = false;
            for (Eigen::Index s = 0; s < words.cols() && !found; ++s)
                for (Eigen::Index t = s + 1; t < words.cols() && !found; ++t) {
                    ++result.pairs;
                    long near = 0;
                    for (Eigen::Index i = 0; i < words.rows(); ++i)
                        if (nearly_equal(words(i, s), words(i, t))) ++near;
                    if (near <= std::min<long>(most_small, words.rows() / 2)) continue;
                    found = true;
                    result.findings.push_back(fmt::format(
                        "the masks of agent {} for agent {} are the same in exchanges {} and {}: "
                        "agent {} can subtract the two shares and sees the difference of two "
                        "messages",
                        sender,
                        receiver,
                        s,
                        t,
                        receiver));
                }
        }
    }
    return result;
}

}  // namespace sotto
