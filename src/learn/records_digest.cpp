#include "sotto/learn/records_digest.hpp"

#include <cstdint>
#include <span>

namespace sotto {

namespace {

template <class Value>
std::span<const std::uint8_t> bytes_of(const Value* values, Eigen::Index count) {
    return {reinterpret_cast<const std::uint8_t*>(values),
            static_cast<std::size_t>(count) * sizeof(Value)};
}

void add_features(Hasher& hasher, const SparseRows& rows) {
    hasher.add("sparse").add_bytes(bytes_of(rows.outerIndexPtr(), rows.outerSize() + 1));
    hasher.add_bytes(bytes_of(rows.innerIndexPtr(), rows.nonZeros()));
    hasher.add_bytes(bytes_of(rows.valuePtr(), rows.nonZeros()));
}
void add_features(Hasher& hasher, const RealRows& rows) {
    hasher.add("real").add_bytes(bytes_of(rows.data(), rows.size()));
}
void add_features(Hasher& hasher, const PixelRows& rows) {
    hasher.add("grey").add_bytes(bytes_of(rows.data(), rows.size()));
}

}  // namespace

Digest digest_of_records(const Dataset& data) {
    Hasher hasher("sotto.records.v1");
    hasher.add(data.target == Target::value ? "values" : "labels");
    for (const Eigen::Index size : {data.records(), data.feature_count(), data.image_rows})
        hasher.add(std::int64_t{size});
    if (data.dense)
        std::visit([&](const auto& rows) { add_features(hasher, rows); }, *data.dense);
    else
        add_features(hasher, data.features);
    hasher.add_bytes(bytes_of(data.labels.data(), data.labels.size()));
    hasher.add_bytes(bytes_of(data.writers.data(), static_cast<Eigen::Index>(data.writers.size())));
    return hasher.finish();
}

}  // namespace sotto
