#include "commands/supervise/host_answers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "commands/supervise/child_process.hpp"
#include "core/shell_words.hpp"
#include "sotto/core/host.hpp"
#include "sotto/core/stopwatch.hpp"

namespace sotto::cli {

namespace {

constexpr std::string_view name_mark = "sotto-host ", address_mark = "sotto-address ";

}  // namespace

bool is_here(const std::string& host) {
    if (host == "localhost" || host.starts_with("127.") || host == local_host_name()) return true;
    const std::string address = resolved_address(host);
    return address.starts_with("127.") ||
           std::ranges::any_of(own_addresses(), [&](const HostAddress& own) {
               return !address.empty() && own.address == address;
           });
}

namespace {

/// What a host is to run: words that every login shell knows.
std::string question(const std::string& logs) {
    std::string text;
    if (!logs.empty()) text = fmt::format("umask 077; mkdir -p {}; ", shell_quoted(logs));
    return text + fmt::format("hostname | sed 's/^/{}/'; ip -o -4 address show | sed 's/^/{}/'",
                              name_mark,
                              address_mark);
}

std::vector<std::string> question_to(const LauncherWords& words,
                                     const std::string& host,
                                     const std::string& logs) {
    if (is_here(host)) return {"sh", "-c", question(logs)};
    std::vector<std::string> command{"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"};
    std::string word;
    if (words.remote_shell) {
        command.clear();
        std::istringstream shell(words.remote_shell->substr(0, words.remote_shell->find(':')));
        while (shell >> word) command.push_back(word);
    }
    std::istringstream options(words.remote_shell_options);
    while (options >> word) command.push_back(word);
    command.insert(command.end(), {host, question(logs)});
    return command;
}

/// A question under way.
struct Asked {
    std::string file;
    ChildProcess process;
};

Asked begin_question(const std::vector<std::string>& command, const std::string& file) {
    const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    Asked asked{file, ChildProcess(command, {out, nowhere, {}, true})};
    ::close(out);
    ::close(nowhere);
    return asked;
}

/// "2: eth0    inet 10.77.0.1/24 brd 10.77.0.255 scope global eth0\..."; nothing of the loopback.
void read_address(const std::string& line, HostAnswer& answer) {
    std::istringstream words(line);
    std::string number, interface, inet, network;
    if (!(words >> number >> interface >> inet >> network) || inet != "inet" || interface == "lo")
        return;
    for (HostAddress& found : addresses_from(interface + " " + network))
        answer.addresses.push_back(std::move(found));
}

}  // namespace

HostAnswer host_answer(const std::string& printed) {
    HostAnswer answer;
    std::istringstream lines(printed);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(name_mark)) answer.name = line.substr(name_mark.size());
        if (line.starts_with(address_mark)) read_address(line.substr(address_mark.size()), answer);
    }
    return answer;
}

std::vector<std::string> network_words(const LauncherWords& words,
                                       const std::map<std::string, HostAnswer>& answers) {
    const std::size_t asked = named_hosts(words).size();
    if (!words.is_mpirun() || words.names_network || asked < 2 || answers.size() < asked) return {};
    HostAddresses hosts;
    for (const auto& [host, answer] : answers) hosts[host] = answer.addresses;
    std::vector<std::string> chosen;
    if (const std::string network = chosen_network(hosts, resolved_address); !network.empty())
        chosen = {"--mca", "btl_tcp_if_include", network};
    // mpirun itself may run on a host that no rank is on.
    if (std::ranges::none_of(answers, [](const auto& host) { return is_here(host.first); }))
        hosts[local_host_name()] = own_addresses();
    if (const std::string network = chosen_network(hosts, resolved_address); !network.empty())
        chosen.insert(chosen.end(), {"--mca", "oob_tcp_if_include", network});
    return chosen;
}

std::map<std::string, HostAnswer> ask_hosts(const LauncherWords& words,
                                            const std::vector<std::string>& hosts,
                                            const std::string& logs,
                                            const std::string& session,
                                            double patience) {
    std::map<std::string, Asked> asked;
    for (std::size_t i = 0; i < hosts.size(); ++i)
        asked.emplace(hosts[i],
                      begin_question(question_to(words, hosts[i], logs),
                                     fmt::format("{}/answer-{}", session, i)));
    const auto start = Clock::now();
    std::map<std::string, HostAnswer> answers;
    for (auto& [host, question] : asked) {
        while (!question.process.ended() && seconds_since(start) < patience)
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        question.process.signal(SIGKILL);
        question.process.wait();
        std::ifstream file(question.file);
        std::ostringstream printed;
        printed << file.rdbuf();
        if (HostAnswer answer = host_answer(printed.str()); !answer.name.empty())
            answers.emplace(host, std::move(answer));
    }
    return answers;
}

}  // namespace sotto::cli
