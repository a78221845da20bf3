#include "net/mpi/first_contact.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <thread>

#include "core/host.hpp"
#include "core/stopwatch.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr double seconds_for_notes = 10;

std::string name_of_note(int rank) { return fmt::format("sotto-process-{}", rank); }

/// Uses the launcher, which reaches processes that messages do not.
void publish_note(int rank) {
    std::string text = local_host_name() + "|" + addresses_text(own_addresses());
    text.resize(std::min<std::size_t>(text.size(), MPI_MAX_PORT_NAME - 1));
    MPI_Publish_name(name_of_note(rank).c_str(), MPI_INFO_NULL, text.c_str());
}

ContactNote look_up_note(int rank) {
    std::array<char, MPI_MAX_PORT_NAME + 1> text{};
    if (MPI_Lookup_name(name_of_note(rank).c_str(), MPI_INFO_NULL, text.data()) != MPI_SUCCESS)
        return {};
    const std::string note = text.data();
    const std::size_t bar = note.find('|');
    if (bar == std::string::npos) return {};
    return {note.substr(0, bar), addresses_from(note.substr(bar + 1))};
}

void wait_milliseconds(int count) { std::this_thread::sleep_for(std::chrono::milliseconds(count)); }

std::vector<ContactNote> gather_notes(int ranks) {
    std::vector<ContactNote> notes(static_cast<std::size_t>(ranks));
    const auto start = Clock::now();
    bool all = false;
    while (!all && seconds_since(start) < seconds_for_notes) {
        all = true;
        for (int rank = 0; rank < ranks; ++rank) {
            ContactNote& note = notes[static_cast<std::size_t>(rank)];
            if (note.host.empty()) note = look_up_note(rank);
            all = all && !note.host.empty();
        }
        if (!all) wait_milliseconds(200);
    }
    return notes;
}

[[noreturn]] void give_up(MPI_Comm job, double patience) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(job, &rank);
    MPI_Comm_size(job, &ranks);
    publish_note(rank);
    if (rank == 0) throw NetworkError(contact_failure(gather_notes(ranks), patience));
    // Process 0 reports; the launcher then ends the others.
    wait_milliseconds(static_cast<int>(1000 * (seconds_for_notes + 5)));
    throw NetworkError("the ranks did not reach each other");
}

}  // namespace

std::string contact_failure(const std::vector<ContactNote>& notes, double patience) {
    std::string text = fmt::format("the ranks did not reach each other within {:g} s", patience);
    std::vector<std::size_t> silent;
    HostAddresses hosts;
    for (std::size_t rank = 0; rank < notes.size(); ++rank) {
        if (notes[rank].host.empty())
            silent.push_back(rank);
        else
            hosts[notes[rank].host] = notes[rank].addresses;
    }
    if (!silent.empty())
        text += fmt::format(
            "; no answer from rank{} {}", silent.size() == 1 ? "" : "s", fmt::join(silent, ", "));
    if (const auto repeated = repeated_addresses(hosts); !repeated.empty())
        text += fmt::format("; several hosts have the same address: {}", fmt::join(repeated, ", "));
    const auto common = common_networks(hosts);
    if (hosts.size() > 1 && common.empty())
        text += "; there is no network in which every host has an address of its own";
    const std::string network = common.empty() || hosts.size() < 2
                                    ? std::string("NETWORK/BITS")
                                    : fmt::format("{}", fmt::join(common, ","));
    return text + fmt::format(
                      "; name the network that all hosts share: --mca btl_tcp_if_include "
                      "{0} --mca oob_tcp_if_include {0} (`sotto supervise -- mpirun ...` "
                      "finds it), and look for firewalls",
                      network);
}

MPI_Comm first_contact(MPI_Comm job, double patience) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Comm_idup(job, &made, &request), "MPI_Comm_idup");
    const auto start = Clock::now();
    for (int done = 0;;) {
        check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Comm_idup");
        if (done != 0) return made;
        if (seconds_since(start) > patience) give_up(job, patience);
        std::this_thread::yield();
    }
}

}  // namespace sotto
