#include "simulation/wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sotto::simulation {

Wire::Wire(World& world, std::uint64_t seed)
    : world_(world), random_(seed, 2), boxes_(static_cast<std::size_t>(world.size())) {
    const auto pairs = static_cast<std::size_t>(world.size() * world.size());
    for (auto& counts : sent_) counts.resize(pairs);
    cut_.resize(pairs);
    slow_ = std::exp(6 * random_.unit());  // up to 400 times slower than the fastest network
}

const Fault* Wire::strikes(int from, int to, bool exchanged) {
    const auto pair = static_cast<std::size_t>(from * world_.size() + to);
    const long number = sent_[exchanged ? 1 : 0][pair]++;
    const auto& faults = world_.options().faults;
    for (std::size_t i = 0; i < faults.size(); ++i) {
        const Fault& fault = faults[i];
        if (!is_of_message(fault.kind) || fault.rank != from || fault.peer != to ||
            fault.exchanged != exchanged || fault.at != number)
            continue;
        ++world_.fired()[i];
        world_.trace(fmt::format("{} to {}", name_of(fault.kind), to));
        if (fault.kind == FaultKind::cut) cut_[pair] = 1;
        return &fault;
    }
    return nullptr;
}

/// What a rank that deviates does to what it sends outside its ciphers.
void Wire::deviate(int from, int to, Traffic traffic, std::vector<std::uint8_t>& bytes) {
    const auto& faults = world_.options().faults;
    for (std::size_t i = 0; i < faults.size(); ++i) {
        const Fault& fault = faults[i];
        if (fault.rank != from || !is_deviation(fault.kind) ||
            counted(fault, *current(), current()->calls) < fault.at)
            continue;
        if (fault.kind == FaultKind::lie_about_sizes && traffic == Traffic::size &&
            bytes.size() == 8 && random_.chance(0.3)) {
            std::uint64_t size = 0;
            std::memcpy(&size, bytes.data(), 8);
            const std::uint64_t lies[] = {size + 1,
                                          size - 1,
                                          0,
                                          2 * size,
                                          1U << 20U,
                                          std::uint64_t{1} << 36U,
                                          ~std::uint64_t{0}};
            size = random_.choose(lies);
            std::memcpy(bytes.data(), &size, 8);
            ++world_.fired()[i];
        }
        if (fault.kind == FaultKind::equivocate && traffic == Traffic::control && !bytes.empty() &&
            to % 2 == 1 && random_.chance(0.3)) {
            bytes[random_.below(bytes.size())] ^= static_cast<std::uint8_t>(1 + random_.below(255));
            ++world_.fired()[i];
        }
        if (fault.kind == FaultKind::replay_own && traffic == Traffic::exchange &&
            random_.chance(0.5)) {
            for (const Sent& sent : log_)
                if (sent.from == from && sent.traffic == traffic) {
                    bytes = sent.bytes;
                    ++world_.fired()[i];
                    break;
                }
        }
    }
}

void Wire::damage(const Fault& fault, std::vector<std::uint8_t>& bytes, const Sent& sent) {
    if (bytes.empty()) return;
    if (fault.kind == FaultKind::corrupt)
        for (int flips = 0; flips < 3; ++flips)
            bytes[random_.below(bytes.size())] ^= static_cast<std::uint8_t>(1 + random_.below(255));
    if (fault.kind == FaultKind::tear) bytes.resize(random_.below(bytes.size()));
    if (fault.kind == FaultKind::replay)
        for (const Sent& earlier : log_)
            if (earlier.from == sent.from && earlier.to == sent.to &&
                earlier.bytes.size() == sent.bytes.size()) {
                bytes = earlier.bytes;
                break;
            }
}

void Wire::send(int to, const Slot& slot, std::span<const std::uint8_t> given, Traffic traffic) {
    const int from = current()->place;
    std::vector<std::uint8_t> bytes(given.begin(), given.end());
    deviate(from, to, traffic, bytes);
    Sent sent{from, to, traffic, bytes};
    double time = world_.now() - slow_ * 1e-4 * std::log(1 - random_.unit());
    const Fault* const fault =
        traffic == Traffic::question ? nullptr : strikes(from, to, traffic == Traffic::exchange);
    const bool lost = cut_[static_cast<std::size_t>(from * world_.size() + to)] != 0 ||
                      (fault != nullptr && fault->kind == FaultKind::drop);
    if (fault != nullptr) {
        damage(*fault, bytes, sent);
        if (fault->kind == FaultKind::delay) time += fault->seconds;
    }
    log_.push_back(std::move(sent));
    if (lost) return;
    boxes_[static_cast<std::size_t>(to)].insert_or_assign(slot, Message{time, std::move(bytes)});
    world_.announce(to, time);
}

const std::vector<std::uint8_t>* Wire::arrived(int rank, const Slot& slot) const {
    const auto& box = boxes_[static_cast<std::size_t>(rank)];
    const auto found = box.find(slot);
    return found != box.end() && found->second.time <= world_.now() ? &found->second.bytes
                                                                    : nullptr;
}

void Wire::forget(int rank, const Slot& slot) {
    boxes_[static_cast<std::size_t>(rank)].erase(slot);
}

const Slot* Wire::first_tagged(int rank, int communicator) const {
    for (const auto& [slot, message] : boxes_[static_cast<std::size_t>(rank)])
        if (slot.communicator == communicator && slot.tag >= 0 && message.time <= world_.now())
            return &slot;
    return nullptr;
}

}  // namespace sotto::simulation
