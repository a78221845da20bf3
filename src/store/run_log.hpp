#pragma once

#include <filesystem>
#include <string_view>

namespace sotto {

/// Appends to log.txt in a run directory what people were told there, every line with the time of
/// day; only its owner can read it. A log that cannot be written ends nothing: metrics and models
/// find out. LOCAL. @param text whole lines; empty ones are left out.
void append_to_log(const std::filesystem::path& run_directory, std::string_view text) noexcept;

}  // namespace sotto
