#include "net/stall_watch.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "net/mpi_session.hpp"

namespace sotto {

namespace {

constexpr int question_tag = 1, answer_tag = 2;
constexpr int fields = 4;  // of a question: 64-bit integers
constexpr int tests_between_clocks = 16;
constexpr double seconds_between_talks = 0.05;
constexpr double seconds_to_answer = 1;

std::string text_of(const StallWatch::Place& place) {
    if (place.round < 0) return "the first round";
    std::string text =
        fmt::format("{}round {}", place.after != 0 ? "what follows " : "", place.round);
    if (place.step > 0) text += fmt::format(", gossip step {}", place.step);
    return text;
}

}  // namespace

struct StallWatch::Stall {
    std::span<const int> waits_for;
    bool for_all;             // all waiting ranks wait for the same others
    double asked_after = -1;  // seconds of waiting; -1: not yet
    bool reported = false, warned = false;
    double next_question;
};

StallWatch::StallWatch(MPI_Comm world) {
    check_mpi(MPI_Comm_dup(world, &watch_), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(watch_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_size(watch_, &ranks_), "MPI_Comm_size");
    check_mpi(MPI_Comm_rank(watch_, &rank_), "MPI_Comm_rank");
    for (int rank = 0; rank < ranks_; ++rank)
        if (rank != rank_) others_.push_back(rank);
    answers_.resize(static_cast<std::size_t>(ranks_));
}

StallWatch::~StallWatch() {
    // MPI has copied what is not yet received: it is small.
    for (Sent& sent : sent_)
        if (sent.request != MPI_REQUEST_NULL) MPI_Request_free(&sent.request);
    MPI_Comm_free(&watch_);
}

void StallWatch::set(StallLimits limits) {
    limits_ = std::move(limits);
    warn_seconds_ = limits_.warn_seconds;
    if (hosts_.empty()) gather_hosts();
}

void StallWatch::gather_hosts() {
    constexpr int length = 64;
    std::string own = MpiSession::host_name().substr(0, length - 1);
    own.resize(length);
    std::string all(static_cast<std::size_t>(ranks_) * length, '\0');
    MPI_Request request = MPI_REQUEST_NULL;
    const int begun = MPI_Iallgather(
        own.data(), length, MPI_CHAR, all.data(), length, MPI_CHAR, watch_, &request);
    check_mpi(complete(begun, request, {}), "MPI_Iallgather");
    for (int rank = 0; rank < ranks_; ++rank)
        hosts_.emplace_back(all.c_str() + static_cast<std::size_t>(rank) * length);
}

int StallWatch::complete(int code,
                         MPI_Request& request,
                         const Place& place,
                         std::span<const int> waits_for,
                         WaitingWork* work) {
    if (code != MPI_SUCCESS) return code;
    std::optional<Clock::time_point> start;
    double talked = 0;
    std::optional<Stall> stall;
    for (;;) {
        for (int i = 0; i < tests_between_clocks; ++i) {
            int done = 0;
            code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            if (code == MPI_SUCCESS && done == 0) {
                if (work != nullptr && *work && !(*work)()) *work = {};
                continue;
            }
            if (code == MPI_SUCCESS && stall && stall->warned) {
                // Slow, not lost: do not warn about the next wait of this length.
                warn_seconds_ = 2 * std::max(warn_seconds_, talked);
                limits_.report(fmt::format("{} goes on", text_of(place)));
            }
            return code;
        }
        give_way();
        const auto now = Clock::now();
        if (!start) start = now;
        const double waited = seconds_between(*start, now);
        if (waited < talked + seconds_between_talks) continue;
        talked = waited;
        talk(place);
        if (!limits_.report) continue;
        if (!stall)
            stall = Stall{waits_for.empty() ? std::span<const int>(others_) : waits_for,
                          waits_for.empty(),
                          -1,
                          false,
                          false,
                          warn_seconds_};
        waited_long(*stall, waited, place);
    }
}

void StallWatch::give_way() const {
    // Open MPI yields by itself; MPICH 4.0.2 does not, and has no setting for it.
    if (limits_.nap_seconds > 0)
        std::this_thread::sleep_for(std::chrono::duration<double>(limits_.nap_seconds));
    else
        ::sched_yield();
}

void StallWatch::answer(const Place& place) {
    give_way();
    const auto now = Clock::now();
    if (seconds_between(talked_, now) < seconds_between_talks) return;
    talked_ = now;
    talk(place);
}

void StallWatch::waited_long(Stall& stall, double waited, const Place& place) {
    const double abort = limits_.abort_seconds;
    // The last question leaves time for answers before the end.
    const double last = std::max(abort / 2, abort - 2 * seconds_to_answer);
    const bool unheard = stall.asked_after >= 0 && !stall.reported;
    const bool at_last = abort > 0 && waited >= last;
    const bool due = at_last ? stall.asked_after < last
                             : warn_seconds_ > 0 && waited >= stall.next_question && !unheard;
    if (due) {
        ask(stall.waits_for, place);
        stall.asked_after = waited;
        stall.reported = false;
    }
    if (abort > 0 && waited >= abort) {
        const std::string found = findings(stall.waits_for);
        // Ranks that wait for the silent rank itself name it, and end the job first.
        const bool first = !found.empty() && (!stall.for_all || speaks());
        if (first || waited >= abort + 2 * seconds_to_answer)
            throw NetworkError(
                fmt::format("waited {:.3g} s for {} ({}); {}",
                            waited,
                            text_of(place),
                            limits_.abort_setting,
                            found.empty() ? "all ranks that it waits for answer and are waiting "
                                            "too; raise the limit if this step takes so long"
                                          : found));
    }
    const bool answered = stall.asked_after >= 0 && !stall.reported &&
                          waited >= stall.asked_after + seconds_to_answer;
    if (!answered) return;
    stall.reported = true;
    stall.next_question = 2 * waited;
    // If all answer, another rank waits for the silent one and reports it.
    const std::string found = findings(stall.waits_for);
    if (found.empty() || (stall.for_all && !speaks())) return;
    stall.warned = true;
    limits_.report(fmt::format("waiting {:.3g} s for {}; {}{}",
                               waited,
                               text_of(place),
                               found,
                               abort > 0 ? fmt::format("; giving up after {:g} s", abort) : ""));
}

void StallWatch::send(const Question& question, int rank, int tag) {
    Sent& sent = sent_.emplace_back();
    sent.question = question;
    static_assert(sizeof(Question) == fields * sizeof(std::int64_t));
    check_mpi(MPI_Isend(&sent.question, fields, MPI_INT64_T, rank, tag, watch_, &sent.request),
              "MPI_Isend");
}

void StallWatch::talk(const Place& place) {
    for (;;) {
        int there = 0;
        MPI_Status status;
        check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, watch_, &there, &status), "MPI_Iprobe");
        if (there == 0) break;
        Question received;
        check_mpi(MPI_Recv(&received,
                           fields,
                           MPI_INT64_T,
                           status.MPI_SOURCE,
                           status.MPI_TAG,
                           watch_,
                           MPI_STATUS_IGNORE),
                  "MPI_Recv");
        if (status.MPI_TAG == question_tag)
            send({received.number, place}, status.MPI_SOURCE, answer_tag);
        else
            answers_[static_cast<std::size_t>(status.MPI_SOURCE)] = received;
    }
    while (!sent_.empty()) {
        int done = 0;
        check_mpi(MPI_Test(&sent_.front().request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done == 0) break;
        sent_.pop_front();
    }
}

void StallWatch::ask(std::span<const int> ranks, const Place& place) {
    ++questions_;
    for (const int rank : ranks) send({questions_, place}, rank, question_tag);
}

bool StallWatch::silent(int rank) const {
    return questions_ == 0 || answers_[static_cast<std::size_t>(rank)].number < questions_;
}

bool StallWatch::speaks() const {
    for (int rank = 0; rank < rank_; ++rank)
        if (!silent(rank)) return false;
    return true;
}

std::string StallWatch::name_of(int rank) const {
    if (hosts_.empty()) return fmt::format("rank {}", rank);
    return fmt::format("rank {} ({})", rank, hosts_[static_cast<std::size_t>(rank)]);
}

bool StallWatch::several_hosts() const {
    return std::ranges::any_of(hosts_,
                               [this](const std::string& host) { return host != hosts_.front(); });
}

std::string StallWatch::findings(std::span<const int> ranks) const {
    constexpr int most_named = 8;
    std::string quiet, others;
    int waiting = 0;
    for (const int rank : ranks) {
        const bool unheard = silent(rank);
        if (!unheard && ++waiting > most_named) continue;
        std::string& list = unheard ? quiet : others;
        if (!list.empty()) list += ", ";
        list += name_of(rank);
        if (!unheard)
            list += fmt::format(" waits for {}",
                                text_of(answers_[static_cast<std::size_t>(rank)].place));
    }
    if (quiet.empty()) return {};
    return fmt::format(
        "no answer from {} (computing, stopped, lost or cut off){}{}{}",
        quiet,
        others.empty() ? "" : "; ",
        others,
        waiting > most_named ? fmt::format(", and {} more wait", waiting - most_named) : "");
}

}  // namespace sotto
