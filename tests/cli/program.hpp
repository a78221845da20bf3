#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/temporary_folder.hpp"

namespace sotto::test {

/// A folder of one test in which programs run, with another beside it for Open MPI's session.
class TempDir : public TemporaryFolder {
  public:
    TempDir();
    ~TempDir();

    [[nodiscard]] std::string operator/(const std::string& name) const { return path(name); }
};

/// Longest that a program, or something it does, is waited for: what takes longer hangs. Far above
/// what a busy machine needs; tests that ask for speed say so themselves. [s]
constexpr double patience = 300;

/// Whether it happens in time; asked again and again.
[[nodiscard]] bool happens(const std::function<bool()>& condition, double seconds = patience);

/// Whether the run has begun (config.ini) and has a whole checkpoint of a round later than `after`.
[[nodiscard]] bool has_checkpoint(const std::filesystem::path& run, long after = -1);

/// How a program ended, and what it wrote.
struct Outcome {
    int exit_code = -1;  ///< 128 + signal if a signal ended it
    bool timed_out = false;
    double seconds = 0;
    std::string out, err;
    /// Everything, for messages of failing tests.
    [[nodiscard]] std::string text() const;
};

using Arguments = std::vector<std::string>;

/// sotto in one process, or under mpirun with that many ranks.
constexpr int one_process = 0;
[[nodiscard]] Arguments sotto_command(int ranks, const Arguments& arguments);
/// Three ranks of one job, of which rank 0 is started otherwise than the others.
/// @param starter of rank 0: a program and its arguments, before those of sotto.
[[nodiscard]] Arguments disagreeing_command(const Arguments& rank_0,
                                            const Arguments& others,
                                            const Arguments& starter = {});

/// Options of `sotto train` for a few rounds of a small task on the complete graph, into ./run.
[[nodiscard]] Arguments short_training(const Arguments& more);

/// A program in a process group of its own, as a terminal starts it, with `directory` as its
/// working directory. Its output is collected in the background of wait().
class Process {
  public:
    Process(const Arguments& command, const std::filesystem::path& directory);
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    /// To the whole process group, as Ctrl-C in a terminal does.
    void signal_group(int signal) const;
    /// To the program alone, as `kill` does.
    void signal(int signal) const;
    /// Whether its standard output holds something that has not been read.
    [[nodiscard]] bool has_written() const;
    /// Waits for the end; kills the group when patience is over.
    [[nodiscard]] Outcome wait();

  private:
    pid_t pid_ = -1;
    int out_ = -1, err_ = -1;
    bool ended_ = false;
};

/// While it lives, mpirun gives the ranks of programs that are started 4 s between its signals:
/// with the 1 s it gives by itself it kills ranks of a busy machine before they have closed their
/// run. Every interrupted or failed job takes that long to end.
class LongerGrace {
  public:
    LongerGrace();
    ~LongerGrace();
    LongerGrace(const LongerGrace&) = delete;
    LongerGrace& operator=(const LongerGrace&) = delete;
};

/// Runs sotto in the folder and waits.
[[nodiscard]] Outcome run_sotto(const TempDir& directory, int ranks, const Arguments& arguments);

/// Whether within 5 s no process is left that works in the folder or has it in its command line:
/// ranks may end a moment after their launcher. Programs of other tests that run are others'.
[[nodiscard]] bool all_ended(const std::filesystem::path& directory);

/// Ranks (or the only process) of sotto that have `text` in their command line.
[[nodiscard]] std::vector<pid_t> ranks_with(const std::string& text);

[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);
/// Lines that sotto itself wrote about an error. Ranks write to one pipe, so that its beginning may
/// stand behind the end of a line without a newline.
[[nodiscard]] std::vector<std::string> error_lines(const std::string& err);

[[nodiscard]] std::string content_of(const std::filesystem::path& path);
[[nodiscard]] nlohmann::json json_of(const std::filesystem::path& path);

/// That sotto in one process refuses with this exit code and one line that holds `part`.
void expect_refused(const TempDir& directory,
                    const Arguments& arguments,
                    int exit_code,
                    const std::string& part);

/// A small LIBSVM file: two classes, three features, this many records.
[[nodiscard]] std::string small_data(int records);

}  // namespace sotto::test
