#pragma once

namespace sotto::extension {

/// Value of the option `--damping`.
[[nodiscard]] double& damping();

}  // namespace sotto::extension
