#pragma once

// What processes do before the first round: share graph and plan, verify them, open a session, and
// distribute the seeds of their noise.

#include "agent/bootstrap/protection_agreement.hpp"
#include "agent/bootstrap/seed_distribution.hpp"
#include "agent/bootstrap/sharing.hpp"
