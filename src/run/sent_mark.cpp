#include "run/sent_mark.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "run/folders.hpp"
#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

namespace sotto {

namespace {

namespace fs = std::filesystem;

constexpr double seconds_ahead = 2;

/// Differs for every start of every host; empty where unknown.
std::string start_of_host() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id;
}

/// The exact mark: it fits into one write.
struct Now {
    std::int64_t phase = 0, round = 0;
};

fs::path now_file(fs::path file) { return file += ".now"; }

/// What one file says about the rounds that may have left.
struct Mark {
    std::string run, host;
    std::vector<int> agents;
    int phase = -1;
    long round = -1;
};

Mark mark_from(const std::string& text) {
    Mark mark;
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    if (line != "sotto-sent 1") throw DataError("it has another format");
    const auto next = [&](const char* name) {
        if (!std::getline(lines, line) || !line.starts_with(std::string(name) + " "))
            throw DataError("it is damaged");
        return std::istringstream(line.substr(std::string_view(name).size() + 1));
    };
    next("run") >> mark.run;
    next("host") >> mark.host;
    std::istringstream agents = next("agents");
    for (int number = 0; agents >> number;) mark.agents.push_back(number);
    if (!(next("phase") >> mark.phase) || !(next("round") >> mark.round) || mark.round < 0)
        throw DataError("it is damaged");
    return mark;
}

/// With the exact mark of this host, where there is one.
long round_of(const Mark& mark, const fs::path& file) {
    std::ifstream stream(now_file(file), std::ios::binary);
    Now now;
    if (mark.host.empty() || mark.host == "-" || mark.host != start_of_host() ||
        !stream.read(reinterpret_cast<char*>(&now), sizeof now) || now.phase != mark.phase)
        return mark.round;
    return std::min(mark.round, static_cast<long>(now.round));
}

}  // namespace

SentMark::SentMark(fs::path directory, const Digest& run, std::vector<int> numbers, int phase)
    : file_(directory / "sent" / std::to_string(numbers.front())), phase_(phase) {
    const std::string host = start_of_host();
    head_ = fmt::format("sotto-sent 1\nrun {}\nhost {}\nagents {}\nphase {}\nround ",
                        to_hex(run),
                        host.empty() ? "-" : host,
                        fmt::join(numbers, " "),
                        phase);
    create_folder(file_.parent_path());
    const fs::path exact = now_file(file_);
    const int descriptor = ::open(exact.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0)
        throw ConfigError(
            fmt::format("{}: cannot be written ({})", exact.string(), std::strerror(errno)));
    now_ = std::shared_ptr<int>(new int(descriptor), [](const int* held) {
        ::close(*held);
        delete held;
    });
}

void SentMark::write_now(long round) {
    const Now now{phase_, round};
    errno = ENOSPC;  // where less is written than asked for
    if (::pwrite(*now_, &now, sizeof now, 0) != static_cast<ssize_t>(sizeof now))
        throw ConfigError(fmt::format(
            "{}: cannot be written ({})", now_file(file_).string(), std::strerror(errno)));
}

void SentMark::set(long round) {
    // The exact one first: beside an older mark on disk it may say more, never less.
    write_now(round);
    write_file_atomically(file_, fmt::format("{}{}\n", head_, round), Readers::owner);
    mark_ = round;
}

void SentMark::before_round(long round, long limit) {
    if (round >= mark_) {
        const auto now = Clock::now();
        if (last_) {
            const double seconds = seconds_between(*last_, now);
            const double rate = static_cast<double>(block_) / std::max(seconds, 1e-9);
            block_ = std::clamp(static_cast<long>(rate * seconds_ahead), 1L, 16 * block_);
        }
        block_ = std::min(block_, std::max(1L, limit - round));
        set(round + block_);
        last_ = Clock::now();
    }
    write_now(round + 1);
}

namespace {

/// The marks of this process's host, with their rounds. @throws DataError naming a file that is
/// damaged, or of another run.
std::string pack_marks(const fs::path& directory, const Digest& run) {
    ByteWriter own;
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(directory / "sent", failure)) {
        if (!entry.is_regular_file() ||
            entry.path().filename().string().find('.') != std::string::npos)
            continue;
        const std::string text = read_file(entry.path());
        try {
            const Mark mark = mark_from(text);
            if (mark.run != to_hex(run)) throw DataError("it is of another run");
            own.put_text(text);
            own.put(std::int64_t{round_of(mark, entry.path())});
        } catch (const DataError& error) {
            throw DataError(fmt::format("{}: {}", entry.path().string(), error.what()));
        }
    }
    return own.take();
}

/// Every agent, and as many that have left, may have a mark, that may name all of them.
std::uint64_t largest_marks_bytes(int agents) {
    constexpr std::uint64_t head = 512, number = 12, others = 64;
    const std::uint64_t all = 2 * static_cast<std::uint64_t>(agents) + others;
    return all * (head + number * all);
}

/// Text and round of every mark. Several processes may see one file; who ran it knows best.
std::map<std::string, long> unpack_marks(const std::vector<std::string>& all) {
    std::map<std::string, long> marks;
    for (std::size_t p = 0; p < all.size(); ++p) {
        ByteReader reader(all[p], fmt::format("the marks of rank {}", p));
        while (!reader.done()) {
            const std::string text(reader.get_text());
            const long round = reader.get<std::int64_t>();
            const auto [entry, fresh] = marks.try_emplace(text, round);
            if (!fresh) entry->second = std::min(entry->second, round);
        }
    }
    return marks;
}

}  // namespace

std::optional<long> sent_before(const fs::path& directory,
                                Network& network,
                                const Digest& run,
                                int phase,
                                const std::vector<int>& numbers) {
    std::string own;
    network.agree([&] { own = pack_marks(directory, run); });
    const auto all = network.all_gather(own, largest_marks_bytes(network.agents()));
    std::optional<long> result;
    network.agree([&] {
        std::set<int> covered;
        for (const auto& [text, round] : unpack_marks(all)) {
            const Mark mark = mark_from(text);
            covered.insert(mark.agents.begin(), mark.agents.end());
            if (mark.phase > phase)
                throw DataError(fmt::format(
                    "{}: agent {} has sent rounds of phase {} of the run, but rank 0's "
                    "history.json ends with phase {}; take up the run with the newest files",
                    directory.string(),
                    mark.agents.empty() ? -1 : mark.agents.front(),
                    mark.phase,
                    phase));
            if (mark.phase == phase) result = std::max(result.value_or(0), round);
        }
        for (const int number : numbers)
            if (!covered.contains(number))
                throw DataError(fmt::format(
                    "{}: the mark of agent {}'s sent rounds is missing; take up the run where its "
                    "files are (its folder 'sent' and checkpoints, on every host that had agents)",
                    directory.string(),
                    number));
    });
    return result;
}

}  // namespace sotto
