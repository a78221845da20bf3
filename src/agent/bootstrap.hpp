#pragma once

// What the processes do together before the first round: they share topography and plan, agree that
// both protect everybody, open a session, and come to the seeds of their noise.

#include "agent/bootstrap/protection_agreement.hpp"
#include "agent/bootstrap/seed_distribution.hpp"
#include "agent/bootstrap/sharing.hpp"
