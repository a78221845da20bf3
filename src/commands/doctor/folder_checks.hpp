#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "commands/doctor/doctor_check.hpp"
#include "commands/doctor/placement.hpp"

namespace sotto {

// Is there room where a run writes? LOCAL, all of them; nothing is left behind.

[[nodiscard]] Finding check_temporary_directory(const Placement& placement);
[[nodiscard]] Finding check_run_directory(const Placement& placement);

/// Can files be made in a folder, and is there room for a run? @param fix what to do if not.
[[nodiscard]] Finding check_writable(const std::filesystem::path& folder, const std::string& fix);

/// Space for this user; nothing where there is no such folder.
[[nodiscard]] std::optional<double> free_mib(const std::filesystem::path& folder);
/// "512 MiB", "12 GiB".
[[nodiscard]] std::string size_text(double mib);

}  // namespace sotto
