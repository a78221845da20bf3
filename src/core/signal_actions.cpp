#include "core/signal_actions.hpp"

#include <algorithm>
#include <array>
#include <csignal>

namespace sotto {

namespace {

constexpr std::array kept_ignored{SIGHUP, SIGINT, SIGQUIT, SIGPIPE};

void set_action(std::initializer_list<int> signals, void (*handler)(int), int flags) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    for (const int signal : signals)
        if (!stays_ignored(signal)) ::sigaction(signal, &action, nullptr);
}

}  // namespace

bool stays_ignored(int signal) {
    if (std::ranges::find(kept_ignored, signal) == kept_ignored.end()) return false;
    struct sigaction action {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void handle_signals(std::initializer_list<int> signals, void (*handler)(int)) {
    set_action(signals, handler, SA_RESTART);
}

void handle_signals_ending_waits(std::initializer_list<int> signals, void (*handler)(int)) {
    set_action(signals, handler, 0);
}

void default_signals(std::initializer_list<int> signals) { set_action(signals, SIG_DFL, 0); }

void report_too_large_files() { std::signal(SIGXFSZ, SIG_IGN); }

}  // namespace sotto
