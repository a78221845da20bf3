// Do jobs come up, and do their ranks reach each other?

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "commands/doctor/doctor.hpp"
#include "sotto/core/host.hpp"
#include "sotto/core/stopwatch.hpp"
#include "sotto/net/mpi_network.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

constexpr int most_ranks_all_pairs = 256;
constexpr Eigen::Index dimension = 1000;  // beyond what is sent along with the first packet

std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

struct CommandResult {
    int exit_code = -1;
    std::string output;
};

CommandResult run_shell(const std::string& command) {
    CommandResult result;
    std::FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return result;
    std::array<char, 4096> buffer{};
    for (std::size_t count = 0; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
        result.output.append(buffer.data(), count);
    const int status = ::pclose(pipe);
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    return result;
}

std::optional<fs::path> program_in_path(const std::string& name) {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
        if (fs::is_regular_file(candidate) && ::access(candidate.c_str(), X_OK) == 0)
            return candidate;
    }
    return std::nullopt;
}

std::optional<fs::path> find_mpirun() {
    if (auto found = program_in_path("mpirun")) return found;
    return program_in_path("mpiexec");
}

bool is_open_mpi(const std::string& text) { return text.find("Open MPI") != std::string::npos; }

/// The first "1.2" or "1.2.3" of a text.
std::string version_in(const std::string& text) {
    static const std::regex version(R"(\d+\.\d+(\.\d+)?)");
    std::smatch match;
    return std::regex_search(text, match, version) ? match.str() : "";
}

/// The first lines of a launcher's message, as one.
std::string summary_of(const std::string& message) {
    std::istringstream lines(message);
    std::string text;
    for (std::string line; std::getline(lines, line) && text.size() < 250;) {
        if (line.find_first_not_of("-=* \t\r") == std::string::npos) continue;
        if (!text.empty()) text += ' ';
        text += line;
    }
    return text.empty() ? "no message" : text;
}

}  // namespace

DoctorCheck check_mpirun() {
    const std::string library = MpiSession::library_version();
    const std::string fix = is_open_mpi(library)
                                ? "install package openmpi-bin, or put the mpirun of this MPI "
                                  "library first in PATH"
                                : "put the mpirun of this MPI library first in PATH";
    const auto mpirun = find_mpirun();
    if (!mpirun) return {"launcher", false, "neither mpirun nor mpiexec is in PATH", fix};
    const std::string answer = run_shell(quoted(*mpirun) + " --version 2>&1 </dev/null").output;
    const std::string described = answer.substr(0, answer.find('\n'));
    if (is_open_mpi(answer) != is_open_mpi(library) || version_in(answer) != version_in(library))
        return {"launcher",
                false,
                fmt::format("{} is '{}', but sotto is linked with '{}': jobs would fall apart "
                            "into single processes",
                            mpirun->string(),
                            described,
                            library.substr(0, library.find(','))),
                fix};
    return {"launcher", true, fmt::format("{}, {}", mpirun->string(), described), ""};
}

DoctorCheck check_trial_job() {
    const std::string try_it = "try `mpirun --oversubscribe -n 2 sotto doctor` by hand";
    const auto mpirun = find_mpirun();
    if (!mpirun) return {"exchange", false, "not tried: there is no mpirun", "see launcher"};
    std::error_code failure;
    const fs::path self = fs::read_symlink("/proc/self/exe", failure);
    if (failure) return {"exchange", false, "not tried: this program's file is not known", try_it};
    // Whether root may start jobs is a check of its own.
    const std::string command = fmt::format(
        "MPIEXEC_TIMEOUT=30 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 {}{} -n 2 {} "
        "doctor --quiet --json - </dev/null",
        quoted(*mpirun),
        is_open_mpi(MpiSession::library_version()) ? " --oversubscribe" : "",
        quoted(self));
    const CommandResult result = run_shell(command + " 2>/dev/null");
    const auto json = nlohmann::json::parse(result.output, nullptr, false);
    if (json.is_discarded() || !json.is_object()) {
        const CommandResult again = run_shell(command + " 2>&1 >/dev/null");
        return {"exchange",
                false,
                fmt::format("a trial job of 2 ranks failed (exit code {}): {}",
                            result.exit_code,
                            summary_of(again.output)),
                try_it};
    }
    if (json.value("ranks", 0) != 2)
        return {"exchange",
                false,
                fmt::format("a trial job of 2 ranks came up as single processes of {} rank",
                            json.value("ranks", 0)),
                "use the mpirun of the MPI library sotto is linked with"};
    for (const auto& check : json.at("checks"))
        if (check.at("name") == "exchange")
            return {"exchange",
                    check.at("ok"),
                    "trial job: " + check.at("found").get<std::string>(),
                    check.at("fix")};
    return {"exchange", false, "the trial job made another report", try_it};
}

Placement find_placement(Network& network) {
    Placement placement;
    placement.launched = true;
    placement.rank = network.process();
    placement.ranks = network.processes();
    placement.host = local_host_name();
    placement.ranks_on_host = 0;
    std::string mine = placement.host + "\n";
    for (const int core : allowed_cores()) mine += fmt::format("{} ", core);
    // Launchers bind every rank to cores of its own: those of the host are all of them together.
    std::set<int> cores;
    for (const auto& theirs : network.all_gather(mine)) {
        std::istringstream words(theirs);
        std::string host;
        std::getline(words, host);
        if (host != placement.host) continue;
        ++placement.ranks_on_host;
        for (int core = 0; words >> core;) cores.insert(core);
    }
    placement.cores_on_host = std::max(1, static_cast<int>(cores.size()));
    return placement;
}

DoctorCheck check_exchange(Network& network) {
    const int ranks = network.processes(), rank = network.process();
    const bool all_pairs = ranks <= most_ranks_all_pairs;
    std::vector<Edge> edges;
    for (int u = 0; u < ranks; ++u) {
        edges.emplace_back(u, (u + 1) % ranks);
        for (int v = u + 1; all_pairs && v < ranks; ++v) edges.emplace_back(u, v);
    }
    const Graph graph = Graph::from_edges(ranks, edges);
    network.connect(graph);
    const auto value_of = [](int sender, Eigen::Index i) {
        return sender + 1 + static_cast<double>(i) / (2 * dimension);
    };
    Eigen::VectorXd message(dimension);
    for (Eigen::Index i = 0; i < dimension; ++i) message(i) = value_of(rank, i);
    const std::vector<Outgoing> outgoing{{message.data(), {}}};
    const auto members = graph.closed_neighbourhood(rank);
    int wrong_sender = -1;
    const auto deliver = [&](std::size_t,
                             Eigen::Index first,
                             Eigen::Index count,
                             std::span<const double* const> columns) {
        for (std::size_t j = 0; j < columns.size(); ++j)
            for (Eigen::Index i = 0; i < count; ++i)
                if (columns[j][i] != value_of(members[j], first + i)) wrong_sender = members[j];
    };
    const auto start = Clock::now();
    network.exchange({0, 0}, outgoing, dimension, deliver);
    const double own_ms = 1000 * seconds_since(start);
    const double elapsed_ms = network.maximum(own_ms);
    const double part = network.sum_over_agents(Eigen::MatrixXd::Ones(1, 1))(0);
    DoctorCheck check{"exchange",
                      true,
                      fmt::format("{} rank{} exchanged messages with {} (first time: {:.1f} ms)",
                                  ranks,
                                  ranks == 1 ? "" : "s",
                                  all_pairs ? "all others" : "their neighbours on a ring",
                                  elapsed_ms),
                      ""};
    if (wrong_sender >= 0 || part != ranks) {
        check.ok = false;
        check.found = wrong_sender >= 0
                          ? fmt::format("the message of rank {} arrived damaged", wrong_sender)
                          : fmt::format("{} of {} ranks took part in a sum", part, ranks);
        check.fix =
            "in a container allow ptrace (docker run --cap-add=SYS_PTRACE), or set "
            "OMPI_MCA_btl_vader_single_copy_mechanism=none";
    }
    return check;
}

}  // namespace sotto
