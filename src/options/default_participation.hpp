#pragma once

#include "options/written_options.hpp"

namespace sotto {

/// `given`, with --participation poisson where nobody names one and it is possible: records are
/// added, removed or zeroed out, batches are smaller than all records, and the mechanism has
/// independent rounds. Secretly sampled batches need least noise. And where clients are sampled.
[[nodiscard]] OptionTexts with_default_participation(OptionTexts given);
/// The same where no data are read: where a probability is given.
[[nodiscard]] OptionTexts with_participation_without_data(OptionTexts given);

}  // namespace sotto
