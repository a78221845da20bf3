#include "commands/watch/kept_account.hpp"

#include <chrono>

namespace sotto {

namespace {

/// Of a processor, where an account lacks something and is tried again: a tenth.
constexpr double rest_per_work = 10;

}  // namespace

void KeptAccount::begin() {
    next_ =
        std::async(std::launch::async, [this] { return report_account(config_, Clock::now()); });
}

bool KeptAccount::take() {
    if (!next_.valid()) return true;
    if (next_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
    last_ = next_.get();
    taken_ = Clock::now();
    return true;
}

void KeptAccount::follow(const std::string& ledger) {
    if (!take()) return;
    const bool rested = !last_ || seconds_since(taken_) >= rest_per_work * last_->seconds;
    const bool current = last_ && ledger == ledger_ && last_->missing.empty();
    if (current || !rested) return;
    ledger_ = ledger;
    begin();
}

bool KeptAccount::finish() {
    if (!take()) return false;
    if (final_) return true;
    final_ = true;
    begin();
    return false;
}

}  // namespace sotto
