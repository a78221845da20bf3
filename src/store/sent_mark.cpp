#include "store/sent_mark.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <sstream>

#include "core/bytes.hpp"
#include "core/files.hpp"
#include "sotto/core/error.hpp"
#include "store/run_directory.hpp"

namespace sotto {

namespace {

namespace fs = std::filesystem;

constexpr double seconds_ahead = 2;

/// Differs for every boot of every host; empty if unknown.
std::string start_of_host() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id;
}

fs::path mark_file(const fs::path& directory, int lowest_agent) {
    return directory / "sent" / std::to_string(lowest_agent);
}

/// A mark without its rounds. @param host empty: no exact mark counts.
std::string mark_head(const Digest& run,
                      const std::string& host,
                      std::span<const int> numbers,
                      int phase,
                      const Digest& session) {
    return fmt::format("sotto-sent 2\nrun {}\nhost {}\nagents {}\nphase {}\nsession {}\nround ",
                       to_hex(run),
                       host.empty() ? "-" : host,
                       fmt::join(numbers, " "),
                       phase,
                       to_hex(session));
}

/// The exact mark, small enough for one write.
struct Now {
    std::int64_t phase = 0, round = 0;
};

fs::path now_file(fs::path file) { return file += ".now"; }

/// One file of marks.
struct Mark {
    std::string run, host;
    std::vector<int> agents;
    int phase = -1;
    Digest session{};
    long round = -1;
};

Mark mark_from(const std::string& text) {
    Mark mark;
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    if (line != "sotto-sent 2") throw DataError("it has another format");
    const auto next = [&](const char* name) {
        if (!std::getline(lines, line) || !line.starts_with(std::string(name) + " "))
            throw DataError("it is damaged");
        return std::istringstream(line.substr(std::string_view(name).size() + 1));
    };
    next("run") >> mark.run;
    next("host") >> mark.host;
    std::istringstream agents = next("agents");
    for (int number = 0; agents >> number;) mark.agents.push_back(number);
    std::ranges::sort(mark.agents);
    std::string session;
    if (!(next("phase") >> mark.phase) || !(next("session") >> session) ||
        !from_hex(session, mark.session) || !(next("round") >> mark.round) || mark.round < 0)
        throw DataError("it is damaged");
    return mark;
}

/// With this host's exact mark, if there is one.
long round_of(const Mark& mark, const fs::path& file) {
    std::ifstream stream(now_file(file), std::ios::binary);
    Now now;
    if (mark.host.empty() || mark.host == "-" || mark.host != start_of_host() ||
        !stream.read(reinterpret_cast<char*>(&now), sizeof now) || now.phase != mark.phase ||
        now.round < 0)
        return mark.round;
    return std::min(mark.round, static_cast<long>(now.round));
}

}  // namespace

SentMark::SentMark(fs::path directory,
                   const Digest& run,
                   std::vector<int> numbers,
                   int phase,
                   const Digest& session)
    : file_(mark_file(directory, numbers.front())),
      head_(mark_head(run, start_of_host(), numbers, phase, session)),
      phase_(phase) {
    create_folder(file_.parent_path());
    const fs::path exact = now_file(file_);
    const int descriptor = ::open(exact.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0)
        throw_write_failure(
            fmt::format("{}: cannot be written ({})", exact.string(), std::strerror(errno)), errno);
    now_ = std::shared_ptr<int>(new int(descriptor), [](const int* held) {
        ::close(*held);
        delete held;
    });
}

void SentMark::write_now(long round) {
    const Now now{phase_, round};
    errno = ENOSPC;  // where less is written than asked for
    if (::pwrite(*now_, &now, sizeof now, 0) != static_cast<ssize_t>(sizeof now))
        throw_write_failure(
            fmt::format(
                "{}: cannot be written ({})", now_file(file_).string(), std::strerror(errno)),
            errno);
}

void SentMark::set(long round) {
    // The exact mark first: beside an older mark on disk it may count more rounds, never fewer.
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

/// Marks on this host, without the exact ones.
std::vector<fs::path> mark_files(const fs::path& directory) {
    std::vector<fs::path> files;
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(directory / "sent", failure))
        if (entry.is_regular_file() &&
            entry.path().filename().string().find('.') == std::string::npos)
            files.push_back(entry.path());
    return files;
}

}  // namespace

bool may_have_sent(const fs::path& directory) {
    return std::ranges::any_of(mark_files(directory), [](const fs::path& file) {
        try {
            const Mark mark = mark_from(read_file(file));
            return mark.phase != 0 || mark.round != 0;
        } catch (const Error&) {
            return true;
        }
    });
}

void forget_marks(const fs::path& directory) {
    std::error_code ignored;
    for (const fs::path& file : mark_files(directory)) {
        fs::remove(now_file(file), ignored);
        fs::remove(file, ignored);
    }
}

namespace {

/// Calls use(file, text, mark) for every mark on this host. @throws DataError naming a file that is
/// damaged, or of another run.
template <class Use>
void for_each_mark(const fs::path& directory, const Digest& run, Use&& use) {
    for (const fs::path& file : mark_files(directory)) {
        const std::string text = read_file(file);
        try {
            const Mark mark = mark_from(text);
            if (mark.run != to_hex(run)) throw DataError("it is of another run");
            use(file, text, mark);
        } catch (const DataError& error) {
            throw DataError(fmt::format("{}: {}", file.string(), error.what()));
        }
    }
}

std::string pack_marks(const fs::path& directory, const Digest& run) {
    ByteWriter own;
    for_each_mark(directory, run, [&](const fs::path& file, const auto& text, const Mark& mark) {
        own.put_text(text);
        own.put(std::int64_t{round_of(mark, file)});
    });
    return own.take();
}

/// Every agent, and as many that have left, may have a mark that names all of them.
std::uint64_t largest_marks_bytes(int agents) {
    constexpr std::uint64_t head = 512, number = 12, others = 64;
    const std::uint64_t all = 2 * static_cast<std::uint64_t>(agents) + others;
    return all * (head + number * all);
}

using Marks = std::map<std::string, long>;

/// Several processes may see one file; that of its host knows best. For local agents, the result is
/// never below what this process finds itself.
Marks unpack_marks(const std::vector<std::string>& all,
                   std::size_t own,
                   const MarkedRounds& asked) {
    Marks marks, found;
    for (std::size_t p = 0; p < all.size(); ++p) {
        ByteReader reader(all[p], fmt::format("the marks of rank {}", p));
        while (!reader.done()) {
            const std::string text(reader.get_text());
            const long round = reader.get<std::int64_t>();
            if (round < 0 || round > asked.rounds)
                throw DataError(fmt::format(
                    "the marks of rank {}: round {} is not allowed (the run has {} rounds)",
                    p,
                    round,
                    asked.rounds));
            const auto [entry, fresh] = marks.try_emplace(text, round);
            if (!fresh) entry->second = std::min(entry->second, round);
            if (p == own) found.emplace(text, round);
        }
    }
    for (const auto& [text, round] : found) {
        const Mark mark = mark_from(text);
        if (std::ranges::find_first_of(mark.agents, asked.local) != mark.agents.end())
            marks[text] = round;
    }
    return marks;
}

/// The largest of all processes, but at least its own. COLLECTIVE.
std::optional<long> largest_of_all(Control& network, std::optional<long> own, long most) {
    const double least = own ? static_cast<double>(*own) : -1;
    const double largest = network.maximum(least);
    if (!(largest >= least && largest <= static_cast<double>(most)))
        throw NetworkError(fmt::format(
            "the ranks say that {} rounds were sent; this one knows of {}, of a run of {}",
            largest,
            own.value_or(0),
            most));
    return largest < 0 ? std::nullopt : std::optional(std::lround(largest));
}

}  // namespace

std::vector<FoundMark> marks_of(const fs::path& directory,
                                const Digest& run,
                                std::span<const int> agents) {
    std::vector<FoundMark> found;
    for_each_mark(directory, run, [&](const fs::path& file, const auto&, const Mark& mark) {
        if (std::ranges::find_first_of(mark.agents, agents) != mark.agents.end())
            found.push_back({file, mark.phase, mark.session, round_of(mark, file), mark.agents});
    });
    return found;
}

void restore_mark(RestoredFiles& files,
                  const fs::path& directory,
                  const Digest& run,
                  int agent,
                  const FoundMark& mark,
                  bool in_any_case) {
    const std::array own{agent};
    const bool there = !marks_of(directory, run, own).empty();
    if (there && !in_any_case) return;
    // The existing one may be of other agents too.
    files.write(
        there ? directory / "sent" / fmt::format("copy-{}", agent) : mark_file(directory, agent),
        fmt::format("{}{}\n", mark_head(run, {}, own, mark.phase, mark.session), mark.round));
}

std::optional<long> sent_before(const fs::path& directory,
                                Control& network,
                                const MarkedRounds& asked) {
    std::string own;
    network.agree([&] { own = pack_marks(directory, asked.run); });
    const auto all = network.all_gather(own, largest_marks_bytes(network.agents()));
    std::optional<long> result;
    network.agree([&] {
        std::set<int> covered;
        const auto process = static_cast<std::size_t>(network.process());
        for (const auto& [text, round] : unpack_marks(all, process, asked)) {
            const Mark mark = mark_from(text);
            covered.insert(mark.agents.begin(), mark.agents.end());
            if (mark.phase > asked.phase)
                throw DataError(fmt::format(
                    "{}: agent {} has sent rounds of phase {} of the run, but rank 0's "
                    "history.json ends with phase {}; resume the run with the newest files",
                    directory.string(),
                    mark.agents.empty() ? -1 : mark.agents.front(),
                    mark.phase,
                    asked.phase));
            if (mark.phase == asked.phase) result = std::max(result.value_or(0), round);
        }
        for (const int number : asked.numbers) {
            if (covered.contains(number)) continue;
            result = std::max(result.value_or(0), asked.until);
            if (std::ranges::find(asked.going_on, number) != asked.going_on.end())
                throw DataError(fmt::format(
                    "{}: the mark of agent {}'s sent rounds is missing; resume the run where its "
                    "files are (its folder 'sent' and checkpoints, on every host that had agents)",
                    directory.string(),
                    number));
        }
    });
    return largest_of_all(network, result, asked.rounds);
}

}  // namespace sotto
