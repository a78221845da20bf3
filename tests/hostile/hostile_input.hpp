#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/temporary_folder.hpp"
#include "sotto/core/error.hpp"

namespace sotto::test {

/// Something that a reader must refuse, and how.
struct HostileInput {
    std::string name;
    std::function<void(const TemporaryFolder&)> make;  ///< files, in a folder of their own
    std::function<void(const TemporaryFolder&)> read;  ///< this is measured
    std::vector<std::string> words;  ///< of the message
    ExitCode code = ExitCode::data;
};
using HostileInputs = std::vector<HostileInput>;

[[nodiscard]] std::string repeated(const std::string& piece, int times);

/// What a file holds: a text, or what is done to make it at a path.
using MakeFile = std::function<void(const std::string& path)>;
[[nodiscard]] MakeFile text(std::string content);
[[nodiscard]] MakeFile gzip(std::string content);
/// Compressed: this many times the piece.
[[nodiscard]] MakeFile bomb(std::string piece, std::size_t times);
[[nodiscard]] MakeFile pipe();
[[nodiscard]] MakeFile folder();
[[nodiscard]] MakeFile link_to(std::string target);
/// All zeros, of which the disk holds none.
[[nodiscard]] MakeFile hole(std::size_t bytes);
[[nodiscard]] MakeFile nothing();

/// One file that a reader is given.
struct HostileFile {
    std::string name;
    MakeFile make;
    std::vector<std::string> words{};
    ExitCode code = ExitCode::data;
    std::string file = "input";  ///< its name
};
/// Inputs of a reader of files; every message must name the file.
[[nodiscard]] HostileInputs files_of(const std::string& reader,
                                     const std::function<void(const std::string& path)>& read,
                                     const std::vector<HostileFile>& files);
/// What no reader of files may wait for, read on and on, or take for a file: pipe, folder, device,
/// a file that is missing, and one of terabytes.
[[nodiscard]] std::vector<HostileFile> no_files();
/// The same of a reader that keeps only a part of a file in memory.
[[nodiscard]] std::vector<HostileFile> no_files_of_a_stream();

/// In a process of its own: the reader throws an Error of that exit code whose message has all
/// these words and no words of a library, within 2 s, and takes less than 200 MB meanwhile.
void expect_refused(const HostileInput& input);
void expect_all_refused(const HostileInputs& inputs);

// Tables, by what is read.
[[nodiscard]] HostileInputs hostile_data_files();
[[nodiscard]] HostileInputs hostile_graph_files();
[[nodiscard]] HostileInputs hostile_plan_files();
[[nodiscard]] HostileInputs hostile_option_files();
[[nodiscard]] HostileInputs hostile_run_files();
[[nodiscard]] HostileInputs hostile_recordings();
[[nodiscard]] HostileInputs hostile_peer_bytes();

}  // namespace sotto::test
