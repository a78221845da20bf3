#include "hostile/hostile_input.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace sotto::test {

namespace {

constexpr double most_seconds = 5;  // a second on a quiet machine
constexpr long most_kib = 200 * 1000;

/// What became of it in the process of its own.
struct Outcome {
    int code = -1;  ///< -1: it took too long, or a signal ended it; 0: it was accepted
    std::string message;
    double seconds = 0;
    long kib = 0;  ///< more than at its beginning
};

[[noreturn]] void read_and_tell(const HostileInput& input,
                                const TemporaryFolder& folder,
                                int pipe) {
    int code = 0;
    std::string message;
    try {
        input.read(folder);
    } catch (const Error& error) {
        code = static_cast<int>(error.exit_code());
        message = error.what();
    } catch (const std::exception& error) {
        code = 100;
        message = std::string("not of this program: ") + error.what();
    }
    message = message.substr(0, 3000);  // a pipe has room for it
    (void)!::write(pipe, message.data(), message.size());
    ::_exit(code);
}

long resident_kib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
    return 0;
}

Outcome fate_of(const HostileInput& input) {
    const TemporaryFolder folder;
    input.make(folder);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {};
    const long before = resident_kib();
    const pid_t child = ::fork();
    if (child == 0) read_and_tell(input, folder, ends[1]);
    ::close(ends[1]);
    Outcome fate;
    pollfd end{ends[0], POLLIN, 0};
    // What hangs would never end.
    constexpr int patience_ms = 30000;
    if (::poll(&end, 1, patience_ms) == 0) ::kill(child, SIGKILL);
    char buffer[4096];
    for (ssize_t count = 0; (count = ::read(ends[0], buffer, sizeof buffer)) > 0;)
        fate.message.append(buffer, static_cast<std::size_t>(count));
    ::close(ends[0]);
    int status = 0;
    rusage usage{};
    ::wait4(child, &status, 0, &usage);
    // Of the processor, so that what runs beside it does not count.
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    fate.seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    fate.kib = usage.ru_maxrss - before;
    if (WIFEXITED(status)) fate.code = WEXITSTATUS(status);
    return fate;
}

}  // namespace

std::string repeated(const std::string& piece, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += piece;
    return all;
}

MakeFile text(std::string content) {
    return [content = std::move(content)](const std::string& path) {
        std::ofstream(path, std::ios::binary) << content;
    };
}

MakeFile gzip(std::string content) { return bomb(std::move(content), 1); }

MakeFile bomb(std::string piece, std::size_t times) {
    return [piece = std::move(piece), times](const std::string& path) {
        const gzFile file = ::gzopen(path.c_str(), "wb1");
        for (std::size_t i = 0; i < times; ++i)
            ::gzwrite(file, piece.data(), static_cast<unsigned>(piece.size()));
        ::gzclose(file);
    };
}

MakeFile pipe() {
    return [](const std::string& path) { ::mkfifo(path.c_str(), 0600); };
}

MakeFile folder() {
    return [](const std::string& path) { std::filesystem::create_directory(path); };
}

MakeFile link_to(std::string target) {
    return [target = std::move(target)](const std::string& path) {
        std::filesystem::create_symlink(target, path);
    };
}

MakeFile hole(std::size_t bytes) {
    return [bytes](const std::string& path) {
        std::ofstream(path).close();
        std::filesystem::resize_file(path, bytes);
    };
}

MakeFile nothing() {
    return [](const std::string&) {};
}

HostileInputs files_of(const std::string& reader,
                       const std::function<void(const std::string& path)>& read,
                       const std::vector<HostileFile>& files) {
    HostileInputs inputs;
    for (const HostileFile& file : files) {
        std::vector<std::string> words = file.words;
        words.push_back(file.file);
        inputs.push_back({reader + ": " + file.name,
                          [file](const TemporaryFolder& at) { file.make(at.path(file.file)); },
                          [read, file](const TemporaryFolder& at) { read(at.path(file.file)); },
                          std::move(words),
                          file.code});
    }
    return inputs;
}

std::vector<HostileFile> no_files_of_a_stream() {
    return {{"missing", nothing(), {"cannot be read"}},
            {"a folder", folder(), {"is a directory, not a file"}},
            {"a pipe that nobody writes to", pipe(), {"is a pipe, not a file"}},
            {"a device without end", link_to("/dev/zero"), {"is a device, not a file"}}};
}

std::vector<HostileFile> no_files() {
    auto files = no_files_of_a_stream();
    files.push_back({"of terabytes", hole(std::size_t{1} << 42), {"bytes"}});
    return files;
}

void expect_refused(const HostileInput& input) {
    SCOPED_TRACE(input.name);
    const Outcome fate = fate_of(input);
    ASSERT_GE(fate.code, 0) << "it did not end by itself";
    EXPECT_EQ(fate.code, static_cast<int>(input.code)) << fate.message;
    for (const std::string& word : input.words)
        EXPECT_NE(fate.message.find(word), std::string::npos)
            << '"' << word << "\" is not in: " << fate.message;
    for (const char* raw : {"exception", "std::", "stoi", "basic_string", "bad_alloc", "vector"})
        EXPECT_EQ(fate.message.find(raw), std::string::npos) << fate.message;
    EXPECT_LT(fate.message.size(), 2000U);
    EXPECT_LT(fate.seconds, most_seconds);
    EXPECT_LT(fate.kib, most_kib);
}

void expect_all_refused(const HostileInputs& inputs) {
    for (const HostileInput& input : inputs) expect_refused(input);
}

}  // namespace sotto::test
