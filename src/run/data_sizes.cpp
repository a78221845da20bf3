#include "run/data_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr Eigen::Index most_times_own = 16;
constexpr Eigen::Index always_allowed_features = Eigen::Index{1} << 20;
constexpr Eigen::Index always_allowed_classes = 1024;

void require_allowed(std::size_t rank,
                     const char* what,
                     Eigen::Index theirs,
                     Eigen::Index own,
                     Eigen::Index always) {
    const Eigen::Index most = std::max(always, most_times_own * own);
    if (theirs < 0 || theirs > most)
        throw NetworkError(
            fmt::format("rank {} announces data of {} {}, this rank has {}: more than {} are not "
                        "accepted, since models of all agents would grow with them",
                        rank,
                        theirs,
                        what,
                        own,
                        most));
}

}  // namespace

DataSizes largest_sizes(Network& network, const DataSizes& own) {
    ByteWriter writer;
    for (const Eigen::Index size : {own.features, own.classes}) writer.put(std::int64_t{size});
    const auto all = network.all_gather(writer.take(), 2 * sizeof(std::int64_t));
    DataSizes largest = own;
    network.agree([&] {
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
            ByteReader reader(all[rank], fmt::format("the sizes of rank {}'s data", rank));
            const auto features = static_cast<Eigen::Index>(reader.get<std::int64_t>());
            const auto classes = static_cast<Eigen::Index>(reader.get<std::int64_t>());
            reader.require_done();
            require_allowed(rank, "features", features, own.features, always_allowed_features);
            require_allowed(rank, "classes", classes, own.classes, always_allowed_classes);
            largest.features = std::max(largest.features, features);
            largest.classes = std::max(largest.classes, classes);
        }
    });
    return largest;
}

}  // namespace sotto
