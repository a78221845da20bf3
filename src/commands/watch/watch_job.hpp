#pragma once

#include <functional>
#include <optional>
#include <string>

#include "commands/report/report_job.hpp"
#include "commands/watch/kept_account.hpp"

namespace sotto {

/// The page of a run that goes on. It reads the run's directory and leaves everything in it as it
/// is, but for the page where that stands there.
class LiveReport {
  public:
    /// Writes a page. @throws Error where it cannot be written.
    using Write = std::function<void(const std::string& page)>;

    /// @param every seconds between two pages, from 1 on.
    LiveReport(ReportConfig config, int every, Write write);
    LiveReport(const LiveReport&) = delete;  // what is computed beside the pages refers to it
    LiveReport& operator=(const LiveReport&) = delete;

    /// Writes the page of now. Where files are being replaced it may be that none can be made, and
    /// the next call makes it.
    /// @return the last page, once the run has ended and what the accountant says of it is known.
    /// @throws DataError where for half a minute no page could be made; as `write` does;
    /// ConfigError as make_report does.
    [[nodiscard]] std::optional<Report> update();
    /// Writes the page of a run that nobody watches any more, where that can be done at once.
    void stop();
    /// Seconds until the next update: `every`, more where a page takes long to make.
    [[nodiscard]] double pause() const;

  private:
    /// Whether the run has ended, and does not just change its members.
    [[nodiscard]] bool has_ended();
    [[nodiscard]] std::optional<Report> write_page();

    ReportConfig config_;
    int every_;
    Write write_;
    KeptAccount account_;
    double cost_ = 0;  ///< of the last page, in seconds of a processor
    std::optional<Clock::time_point> stopped_, failing_;
};

}  // namespace sotto
