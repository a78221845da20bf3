#include "tasks/shared_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <fstream>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/bytes.hpp"
#include "learn/readers.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

ReadFile read_with_digest(const std::string& path) {
    ReadFile read{read_data_file(path)};
    if (const auto* table = std::get_if<Table>(&read.data))
        read.digest = digest_of_table(*table);
    else
        read.digest = digest_of_records(std::get<Dataset>(read.data));
    return read;
}

namespace {

/// Another build may pack otherwise.
std::string packed_by() {
    return fmt::format("sotto-records {} {}", build_version(), build_commit());
}

/// Appends values to a memory.
class Packer {
  public:
    explicit Packer(const SealedMemory::Write& write) : write_(write) {}

    template <class T>
    void put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        good_ = good_ && write_({reinterpret_cast<const char*>(&value), sizeof value});
    }
    template <class T>
    void put_array(const T* values, std::size_t count) {
        put(static_cast<std::uint64_t>(count * sizeof(T)));
        good_ = good_ && write_({reinterpret_cast<const char*>(values), count * sizeof(T)});
    }
    template <class T>
    void put_array(const T* values, Eigen::Index count) {
        put_array(values, static_cast<std::size_t>(count));
    }
    void put_text(std::string_view text) { put_array(text.data(), text.size()); }
    [[nodiscard]] bool good() const { return good_; }

  private:
    const SealedMemory::Write& write_;
    bool good_ = true;
};

/// Copies an array to `values`, which `resize` gives its length.
template <class T, class Resize>
void take_array(ByteReader& reader, const Resize& resize) {
    const std::string_view bytes = reader.get_text();
    T* const values = resize(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values, bytes.data(), bytes.size());
}

template <class T>
std::vector<T> taken_vector(ByteReader& reader) {
    std::vector<T> values;
    take_array<T>(reader, [&](std::size_t count) {
        values.resize(count);
        return values.data();
    });
    return values;
}

template <class Rows>
Rows taken_rows(ByteReader& reader) {
    const auto records = reader.get<Eigen::Index>(), columns = reader.get<Eigen::Index>();
    Rows rows;
    take_array<typename Rows::Scalar>(reader, [&](std::size_t) {
        rows.resize(records, columns);
        return rows.data();
    });
    return rows;
}

enum class Packed : std::uint8_t { table, sparse, real, grey };

void pack(Packer& packer, const Table& table) {
    packer.put(Packed::table);
    packer.put(static_cast<std::uint8_t>(table.named));
    packer.put(static_cast<std::uint64_t>(table.columns.size()));
    for (const TableColumn& column : table.columns) {
        packer.put_text(column.name);
        packer.put_array(column.numbers.data(), column.numbers.size());
        packer.put_array(column.codes.data(), column.codes.size());
        packer.put(static_cast<std::uint64_t>(column.texts.size()));
        for (const std::string& text : column.texts) packer.put_text(text);
    }
}

Table unpacked_table(ByteReader& reader) {
    Table table;
    table.named = reader.get<std::uint8_t>() != 0;
    table.columns.resize(reader.get_count(1));
    for (TableColumn& column : table.columns) {
        column.name = reader.get_text();
        column.numbers = taken_vector<double>(reader);
        column.codes = taken_vector<std::int32_t>(reader);
        column.texts.resize(reader.get_count(1));
        for (std::string& text : column.texts) text = reader.get_text();
    }
    return table;
}

void pack(Packer& packer, const Dataset& data) {
    if (!data.dense) {
        packer.put(Packed::sparse);
        packer.put(data.features.cols());
        packer.put_array(data.features.outerIndexPtr(), data.features.outerSize() + 1);
        packer.put_array(data.features.innerIndexPtr(), data.features.nonZeros());
        packer.put_array(data.features.valuePtr(), data.features.nonZeros());
    } else {
        std::visit(
            [&]<class Rows>(const Rows& rows) {
                packer.put(std::is_same_v<Rows, PixelRows> ? Packed::grey : Packed::real);
                packer.put(rows.rows());
                packer.put(rows.cols());
                packer.put_array(rows.data(), rows.size());
            },
            *data.dense);
    }
    packer.put_array(data.labels.data(), data.labels.size());
    packer.put(data.target);
    packer.put_array(data.writers.data(), data.writers.size());
    packer.put(data.image_rows);
}

SparseRows unpacked_sparse(ByteReader& reader) {
    const auto columns = reader.get<Eigen::Index>();
    const auto starts = taken_vector<int>(reader), places = taken_vector<int>(reader);
    const auto values = taken_vector<double>(reader);
    return Eigen::Map<const SparseRows>(std::ssize(starts) - 1,
                                        columns,
                                        std::ssize(values),
                                        starts.data(),
                                        places.data(),
                                        values.data());
}

Dataset unpacked_records(ByteReader& reader, Packed kind) {
    Dataset data;
    if (kind == Packed::sparse)
        data.features = unpacked_sparse(reader);
    else if (kind == Packed::real)
        data.dense = taken_rows<RealRows>(reader);
    else
        data.dense = taken_rows<PixelRows>(reader);
    take_array<double>(reader, [&](std::size_t count) {
        data.labels.resize(static_cast<Eigen::Index>(count));
        return data.labels.data();
    });
    data.target = reader.get<Target>();
    data.writers = taken_vector<int>(reader);
    data.image_rows = reader.get<Eigen::Index>();
    return data;
}

ReadFile unpacked_file(ByteReader& reader, const std::string& source) {
    ReadFile read;
    read.digest = reader.get<Digest>();
    const auto kind = reader.get<Packed>();
    if (kind == Packed::table)
        read.data = unpacked_table(reader);
    else
        read.data = unpacked_records(reader, kind);
    std::visit([&](auto& data) { data.source = source; }, read.data);
    return read;
}

/// Which file it is and when it was changed.
std::string state_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return "none;";
    return fmt::format("{} {} {} {}.{} {}.{};",
                       status.st_dev,
                       status.st_ino,
                       status.st_size,
                       status.st_mtim.tv_sec,
                       status.st_mtim.tv_nsec,
                       status.st_ctim.tv_sec,
                       status.st_ctim.tv_nsec);
}

/// Of all that is read for these files.
std::string states_of(const std::vector<std::string>& files) {
    std::string states;
    for (const std::string& file : files) {
        states += state_of(file);
        for (const std::string& labels : names_of_labels(file)) states += state_of(labels);
    }
    return states;
}

/// Of this start of the host, which only processes on it can read; empty if unknown.
std::string random_of_host() {
    std::string text;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> text;
    return text;
}

/// The same for processes of one user on one host that see each other and the same files; for
/// others it looks random. Empty if unknown.
std::string group_of(const std::vector<std::string>& files) {
    const std::string host = random_of_host();
    struct stat processes {};
    if (files.empty() || host.empty() || ::stat("/proc/self/ns/pid", &processes) != 0) return {};
    Hasher hasher("sotto.host-files.v1");
    hasher.add(host).add(static_cast<std::int64_t>(processes.st_ino));
    hasher.add(static_cast<std::int64_t>(::geteuid())).add(states_of(files)).add(packed_by());
    const Digest digest = hasher.finish();
    return {digest.begin(), digest.end()};
}

/// Appends all that is read of the files; false if that fails.
bool pack(Packer& packer, const std::vector<std::string>& files) {
    const std::string states = states_of(files);
    packer.put_text(packed_by());
    packer.put_text(states);
    for (const std::string& file : files) {
        const ReadFile read = read_with_digest(file);
        packer.put(read.digest);
        std::visit([&](const auto& data) { pack(packer, data); }, read.data);
    }
    return packer.good() && states_of(files) == states;
}

}  // namespace

std::optional<SealedMemory> packed_files(const std::vector<std::string>& files) {
    return SealedMemory::make([&](const SealedMemory::Write& write) {
        Packer packer(write);
        try {
            return pack(packer, files);
        } catch (const std::exception&) {
            return false;  // whoever reads the file says why
        }
    });
}

std::optional<std::vector<ReadFile>> unpacked_files(const SealedMemory& memory,
                                                    const std::vector<std::string>& files) {
    try {
        ByteReader reader(memory.bytes(), "what was read for this host");
        if (reader.get_text() != packed_by() || reader.get_text() != states_of(files))
            return std::nullopt;
        std::vector<ReadFile> read;
        for (const std::string& file : files) read.push_back(unpacked_file(reader, file));
        return read;
    } catch (const NetworkError&) {
        return std::nullopt;
    }
}

namespace {

/// What another process of this host, or this one for all, has read; nothing if each reads for
/// itself. COLLECTIVE.
std::optional<SealedMemory> read_on_host(Control& network, const std::vector<std::string>& files) {
    const std::string own = group_of(files);
    const std::vector<std::string> groups = network.all_gather(own, sizeof(Digest));
    const auto first = std::ranges::find(groups, own) - groups.begin();
    const bool shares = !own.empty() && std::ranges::count(groups, own) > 1;
    std::optional<SealedMemory> memory;
    if (shares && first == network.process()) memory = packed_files(files);
    ByteWriter said;
    if (memory) said.put(memory->place());
    const std::vector<std::string> places =
        network.all_gather(said.take(), sizeof(SealedMemory::Place));
    const std::string& place = places[static_cast<std::size_t>(first)];
    if (shares && !memory && place.size() == sizeof(SealedMemory::Place))
        memory = SealedMemory::open(ByteReader(place, "place").get<SealedMemory::Place>());
    return memory;
}

}  // namespace

std::vector<ReadFile> read_shared_files(Control& network, const std::vector<std::string>& files) {
    std::optional<SealedMemory> memory;
    if (network.processes() > 1) memory = read_on_host(network, files);
    std::vector<ReadFile> read;
    network.agree([&] {
        auto unpacked = memory ? unpacked_files(*memory, files) : std::nullopt;
        if (unpacked)
            read = std::move(*unpacked);
        else
            for (const std::string& file : files) read.push_back(read_with_digest(file));
    });
    return read;
}

}  // namespace sotto
