#pragma once

#include "audit/attack.hpp"

namespace sotto {

/// What are the data of every other agent? Private mean estimation: agents contribute one row each
/// of config.train.task's data (Rows), and the view estimates all of them together. A run directory
/// keeps rows.npy (agents x d), reconstruction.npy and, of images, reconstruction.pgm.
[[nodiscard]] AttackRecord reconstruction_attack();

}  // namespace sotto
