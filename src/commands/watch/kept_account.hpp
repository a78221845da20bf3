#pragma once

#include <future>
#include <optional>
#include <string>

#include "commands/report/report_account.hpp"

namespace sotto {

/// The accountant's part of a page that is written again and again. It is computed beside the
/// pages, and again only where the run's ledger is another, as seldom as keeps it cheap.
class KeptAccount {
  public:
    /// The configuration must outlive this object. Its destructor waits for what is being computed.
    explicit KeptAccount(const ReportConfig& config) : config_(config) {}

    /// Takes what has been computed, and begins another account where the one that is there is of
    /// another ledger, or lacks something, and ten times as long ago as it took.
    /// @param ledger text of ledger.json. @throws as report_account does.
    void follow(const std::string& ledger);
    /// The same, but once: of the files of a run that has ended, which stay as they are.
    /// @return whether it is there.
    [[nodiscard]] bool finish();
    /// The run goes on again: finish() begins anew.
    void go_on() { final_ = false; }

    /// The last that was computed; null: none yet.
    [[nodiscard]] const ReportAccount* last() const { return last_ ? &*last_ : nullptr; }

  private:
    void begin();
    /// Whether nothing is being computed any more.
    bool take();

    const ReportConfig& config_;
    std::future<ReportAccount> next_;
    std::optional<ReportAccount> last_;
    std::string ledger_;  ///< the last account, or the next one, is of
    Clock::time_point taken_;
    bool final_ = false;  ///< the last account, or the next one, was begun by finish()
};

}  // namespace sotto
