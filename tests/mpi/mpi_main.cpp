// main() of test programs that run under mpiexec: every rank runs every test, rank 0 reports, the
// others report their failures only, and all ranks fail when one does.

#include "mpi/mpi_main.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <exception>
#include <sstream>
#include <string>

namespace {

const sotto::MpiSession* the_session = nullptr;

class FailuresOnly : public testing::EmptyTestEventListener {
  public:
    explicit FailuresOnly(int rank) : rank_(rank) {}

    // Remembered here, because GoogleTest holds the lock of its own question for the current test
    // while it reports a failure.
    void OnTestStart(const testing::TestInfo& test) override {
        test_ = std::string(test.test_suite_name()) + '.' + test.name() + ": ";
    }
    void OnTestEnd(const testing::TestInfo& /*test*/) override { test_.clear(); }

    void OnTestPartResult(const testing::TestPartResult& result) override {
        if (!result.failed()) return;
        std::ostringstream text;
        text << "rank " << rank_ << ": " << test_;
        if (result.file_name() != nullptr)
            text << result.file_name() << ':' << result.line_number() << ": ";
        text << result.message() << '\n';
        std::fputs(text.str().c_str(), stdout);  // one call, so that ranks' lines do not mix
        std::fflush(stdout);
    }

  private:
    int rank_;
    std::string test_;
};

}  // namespace

const sotto::MpiSession& sotto::test::mpi_session() { return *the_session; }

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    // An exception that leaves a test on one rank would leave the others waiting in a collective:
    // let it end the process, and with it the job, at once.
    GTEST_FLAG_SET(catch_exceptions, false);
    try {
        const sotto::MpiSession session;
        the_session = &session;
        if (session.rank() != 0) {
            auto& listeners = testing::UnitTest::GetInstance()->listeners();
            delete listeners.Release(listeners.default_result_printer());
            listeners.Append(new FailuresOnly(session.rank()));
        }
        const bool failed = RUN_ALL_TESTS() != 0;
        const auto network = sotto::make_mpi_network(session);
        return network->maximum(failed ? 1 : 0) > 0 ? 1 : 0;
    } catch (const sotto::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.exit_code());
    }
}
