#include "net/mpi/late_mail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace sotto {

namespace {

constexpr int late_tag = 2;           // of the exchange's communicator
constexpr std::int64_t meeting = -1;  // in the place of a round
constexpr long rounds_late = 2;       // within which a neighbour counts as on time

}  // namespace

LateMail::~LateMail() {
    // The other end may never take them: buffers must outlive the library's use of them.
    const bool sending =
        std::ranges::any_of(under_way_, [](const auto& to) { return !to.empty(); });
    if (sending) (void)new auto(std::move(under_way_));
    if (!coming_.empty()) (void)new auto(std::move(coming_));
}

void LateMail::prepare() {
    if (!kept_.empty() || links_.neighbours().empty()) return;
    kept_.resize(links_.neighbours().size());
    under_way_.resize(kept_.size());
    newest_.resize(kept_.size(), -1);
    used_.resize(kept_.size());
}

std::vector<std::byte> LateMail::buffer(std::size_t bytes) {
    std::vector<std::byte> taken;
    if (!spare_.empty()) {
        taken = std::move(spare_.back());
        spare_.pop_back();
    }
    taken.resize(bytes);
    return taken;
}

void LateMail::post(Header header, std::size_t destination, std::span<const std::byte> bytes) {
    prepare();
    finish_sends();
    std::deque<UnderWay>& before = under_way_[destination];
    if (before.size() >= most_under_way && header.round != meeting) {
        ++counts_.unsent;
        bytes = {};  // only says where this process is
    }
    UnderWay& next = before.emplace_back();
    next.bytes = buffer(sizeof(Header) + bytes.size());
    std::memcpy(next.bytes.data(), &header, sizeof(Header));
    if (!bytes.empty()) std::memcpy(next.bytes.data() + sizeof(Header), bytes.data(), bytes.size());
    check_mpi(MPI_Isend(next.bytes.data(),
                        mpi_count(next.bytes.size()),
                        MPI_BYTE,
                        links_.neighbours()[destination],
                        late_tag,
                        links_.communicator(),
                        &next.request),
              "MPI_Isend");
}

void LateMail::send(ExchangeId id, std::size_t destination, std::span<const std::byte> bytes) {
    post({id.round, id.step, used_of(destination, id.round)}, destination, bytes);
}

void LateMail::finish_sends() {
    for (std::deque<UnderWay>& sends : under_way_)
        while (!sends.empty()) {
            int done = 0;
            check_mpi(MPI_Test(&sends.front().request, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (done == 0) break;
            spare_.push_back(std::move(sends.front().bytes));
            sends.pop_front();
        }
}

void LateMail::take_all() {
    prepare();
    if (largest_ == 0) return;
    finish_sends();
    for (;;) {
        int there = 0;
        MPI_Status status;
        MPI_Message message = MPI_MESSAGE_NULL;
        check_mpi(
            MPI_Improbe(MPI_ANY_SOURCE, late_tag, links_.communicator(), &there, &message, &status),
            "MPI_Improbe");
        if (there == 0) break;
        int bytes = 0;
        check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
        const auto sender = std::ranges::find(links_.neighbours(), status.MPI_SOURCE);
        const auto size = static_cast<std::size_t>(std::max(bytes, 0));
        if (sender == links_.neighbours().end() || size < sizeof(Header) ||
            size > largest_ + sizeof(Header))
            throw NetworkError(
                fmt::format("{} sent {} bytes in a round (allowed: {} to {}); it does not keep to "
                            "the protocol",
                            world_.name_of(status.MPI_SOURCE),
                            bytes,
                            sizeof(Header),
                            largest_ + sizeof(Header)));
        Coming& next = coming_.emplace_back();
        next.source = static_cast<std::size_t>(sender - links_.neighbours().begin());
        next.bytes = buffer(size);
        check_mpi(MPI_Imrecv(next.bytes.data(), bytes, MPI_BYTE, &message, &next.request),
                  "MPI_Imrecv");
    }
    for (auto next = coming_.begin(); next != coming_.end();) {
        int done = 0;
        check_mpi(MPI_Test(&next->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done == 0) {
            ++next;
            continue;
        }
        keep(next->source, std::move(next->bytes));
        next = coming_.erase(next);
    }
}

void LateMail::keep(std::size_t source, std::vector<std::byte> bytes) {
    Header header;
    std::memcpy(&header, bytes.data(), sizeof(Header));
    if (header.round == meeting) {
        spare_.push_back(std::move(bytes));
        call_meeting();
        return;
    }
    const ExchangeId id{header.round, static_cast<int>(header.step)};
    newest_[source] = std::max(newest_[source], static_cast<long>(id.round));
    if (bytes.size() == sizeof(Header)) {
        spare_.push_back(std::move(bytes));
        return;
    }
    const bool over = !open_ && id.round == now_.round && id.step == now_.step;
    if ((before(id, now_) || over) && (lag_ == 0 || id.round < now_.round - lag_)) {
        ++counts_.late;
        spare_.push_back(std::move(bytes));
        return;
    }
    std::deque<Letter>& kept = kept_[source];
    if (kept.size() >= most_kept + static_cast<std::size_t>(lag_)) {
        spare_.push_back(std::move(kept.front().bytes));
        kept.pop_front();
    }
    kept.push_back({id, static_cast<std::uint32_t>(header.used), std::move(bytes), Clock::now()});
}

void LateMail::forget_before(ExchangeId id) {
    now_ = id;
    open_ = true;
    const ExchangeId oldest = lag_ == 0 ? id : ExchangeId{id.round - lag_, 0};
    for (std::deque<Letter>& letters : kept_)
        while (!letters.empty() && before(letters.front().id, oldest)) {
            spare_.push_back(std::move(letters.front().bytes));
            letters.pop_front();
        }
    constexpr std::size_t most_spare = 16;
    if (spare_.size() > most_spare) spare_.resize(most_spare);
}

bool LateMail::sent_to(std::size_t destination, long round) const {
    const std::size_t allowed = lag_ == 0 ? 0 : most_under_way - 1;
    return under_way_[destination].size() <= allowed || !on_time(round, destination);
}

void LateMail::wait(ExchangeId id,
                    std::span<const std::size_t> sources,
                    std::span<const std::size_t> destinations,
                    Clock::time_point deadline,
                    std::size_t largest) {
    prepare();
    largest_ = std::max(largest_, largest);
    forget_before(id);
    const auto all_there = [&] {
        take_all();
        return std::ranges::all_of(links_.sources(),
                                   [&](std::size_t j) {
                                       const bool near = lag_ > 0 && newest_[j] >= id.round - lag_;
                                       return near || of(id, j) || !on_time(id.round, j);
                                   }) &&
               std::ranges::all_of(destinations,
                                   [&](std::size_t j) { return sent_to(j, id.round); });
    };
    const auto began = Clock::now();
    world_.wait_until(id, deadline, all_there);
    // Who is ahead waits for half of the others once more as long; otherwise it would miss their
    // messages in every round.
    world_.wait_until(id, deadline + std::max(deadline - began, Clock::duration::zero()), [&] {
        return all_there() || half_there(id.round - lag_);
    });
    open_ = false;
    for (std::size_t j = 0; j < used_.size(); ++j) {
        used_[j].rounds = used_of(j, id.round) << 1U;
        used_[j].last = id.round;
    }
    arrivals_.clear();
    for (const std::size_t source : sources) {
        ++counts_.expected;
        if (const Letter* const letter = letter_of(id, source))
            arrivals_.push_back(letter->came);
        else
            ++counts_.missing;
    }
}

const LateMail::Letter* LateMail::letter_of(ExchangeId id, std::size_t source) const {
    for (const Letter& letter : kept_[source])
        if (letter.id.round == id.round && letter.id.step == id.step) return &letter;
    return nullptr;
}

std::optional<std::span<const std::byte>> LateMail::of(ExchangeId id, std::size_t source) const {
    const Letter* const letter = letter_of(id, source);
    if (letter == nullptr) return std::nullopt;
    return letter->content();
}

std::optional<LateMail::Letter> LateMail::take_late(std::size_t source) {
    std::deque<Letter>& letters = kept_[source];
    for (auto letter = letters.begin(); letter != letters.end();) {
        if (!before(letter->id, now_)) {
            ++letter;
            continue;
        }
        Letter taken = std::move(*letter);
        letter = letters.erase(letter);
        if (!used(source, taken.id.round)) return taken;
        spare_.push_back(std::move(taken.bytes));
    }
    return std::nullopt;
}

bool LateMail::used(std::size_t source, long round) const {
    const long age = used_[source].last - round;
    return age < 0 || age >= 32 || (used_[source].rounds >> age & 1U) != 0;
}

void LateMail::use(std::size_t source, long round) {
    used_[source].rounds |= 1U << (used_[source].last - round);
}

bool LateMail::half_there(long round) const {
    std::size_t waited_for = 0, there = 0;
    for (const std::size_t j : links_.sources()) {
        if (!on_time(round, j)) continue;
        ++waited_for;
        if (newest_[j] >= round) ++there;
    }
    return 2 * there >= waited_for;
}

std::uint32_t LateMail::used_by(std::size_t source) const { return letter_of(now_, source)->used; }

std::uint32_t LateMail::used_of(std::size_t neighbour, long round) const {
    if (used_.empty()) return 0;
    const long shift = round - 1 - used_[neighbour].last;
    return shift >= 0 && shift < 32 ? used_[neighbour].rounds << shift : 0;
}

bool LateMail::on_time(long round, std::size_t source) const {
    return newest_[source] >= round - (rounds_late + lag_);
}

long LateMail::round_of_neighbours() {
    // Each poll makes some progress with what came while this process computed.
    constexpr int polls = 20;
    for (int i = 0; i < polls; ++i) take_all();
    std::vector<long> rounds;
    for (const std::size_t source : links_.sources()) rounds.push_back(newest_[source]);
    if (rounds.empty()) return -1;
    const auto half = rounds.begin() + (std::ssize(rounds) - 1) / 2;
    std::ranges::nth_element(rounds, half);
    return *half;
}

void LateMail::call_meeting() {
    if (std::exchange(called_, true)) return;
    prepare();
    for (std::size_t j = 0; j < under_way_.size(); ++j) post({meeting, 0}, j, {});
}

void LateMail::settle(long next) {
    prepare();
    const WaitingWork take = [&] {
        take_all();
        return true;
    };
    for (std::size_t j = 0; j < under_way_.size(); ++j)
        while (!under_way_[j].empty()) {
            UnderWay sent = std::move(under_way_[j].front());
            under_way_[j].pop_front();
            world_.finish("MPI_Isend", sent.request, take);
            spare_.push_back(std::move(sent.bytes));
        }
    MPI_Request all = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibarrier(links_.communicator(), &all), "MPI_Ibarrier");
    world_.finish("MPI_Ibarrier", all, take);
    forget_before({next, 0});
    std::ranges::fill(newest_, next - 1);
    called_ = false;
}

}  // namespace sotto
