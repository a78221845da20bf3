#include "core/signal_actions.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "core/temporary_folder.hpp"

namespace sotto {
namespace {

volatile std::sig_atomic_t noted = 0;
void note(int signal) { noted = signal; }

/// In a process of its own, which ends with the code.
void expect_code(int code, void (*program)()) {
    EXPECT_EXIT(program(), testing::ExitedWithCode(code), "");
}

TEST(SignalActions, LeaveAloneWhatTheProgramWasStartedToIgnore) {
    expect_code(0, [] {
        for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE}) {
            std::signal(signal, SIG_IGN);  // as nohup does before it starts a program
            handle_signals({signal}, note);
            handle_signals_ending_waits({signal}, note);
            default_signals({signal});
            if (!stays_ignored(signal)) std::_Exit(1);
            std::raise(signal);
            if (noted != 0) std::_Exit(2);
        }
        std::_Exit(0);
    });
}

TEST(SignalActions, TakeASignalThatNobodyIgnoresAndGiveItBack) {
    expect_code(0, [] {
        for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGUSR1}) {
            std::signal(signal, SIG_DFL);
            handle_signals({signal}, note);
            std::raise(signal);
            if (noted != signal) std::_Exit(1);
        }
        std::_Exit(0);
    });
    EXPECT_EXIT(
        {
            handle_signals({SIGHUP}, note);
            default_signals({SIGHUP});
            std::raise(SIGHUP);
        },
        testing::KilledBySignal(SIGHUP),
        "");
}

TEST(SignalActions, HandleATerminationThatWasIgnored) {
    // Nobody starts a program so to protect it; launchers count on it.
    expect_code(0, [] {
        std::signal(SIGTERM, SIG_IGN);
        handle_signals({SIGTERM}, note);
        std::raise(SIGTERM);
        std::_Exit(noted == SIGTERM ? 0 : 1);
    });
}

TEST(SignalActions, MakeAFileThatIsTooLargeAnErrorOfTheWrite) {
    const test::TemporaryFolder folder;
    EXPECT_EXIT(
        {
            report_too_large_files();
            rlimit limit{};
            limit.rlim_cur = limit.rlim_max = 16;
            ::setrlimit(RLIMIT_FSIZE, &limit);
            const int file = ::open(folder.path("a").c_str(), O_CREAT | O_WRONLY, 0600);
            const bool first = ::write(file, "0123456789abcdef", 16) == 16;
            const bool second = ::write(file, "0", 1) == 1;
            std::_Exit(first && !second && errno == EFBIG ? 0 : 1);
        },
        testing::ExitedWithCode(0),
        "");
}

}  // namespace
}  // namespace sotto
