#pragma once

#include <string>
#include <string_view>

#include "sotto/agent/checkpoint.hpp"
#include "sotto/trust/identity.hpp"

namespace sotto {

/// An agent's checkpoint as somebody else keeps it, in case the agent's disk is lost, and what may
/// have been sent by then: without the agent's own mark of sent rounds nobody else knows.
struct CheckpointCopy {
    std::string checkpoint;  ///< the file's bytes
    std::string revealed;    ///< text of the agent's own record when the copy was made
    int phase = 0;           ///< of the run, in which the copy was made
    /// Nothing of this round and later ones is sent in the phase before another copy is made.
    long until = 0;
};

/// XChaCha20-Poly1305 under a key that derives from the identity's secret: nobody else can read or
/// make it. Length: the file's, the record's, and less than 100 bytes.
[[nodiscard]] std::string seal_copy(const Identity& identity,
                                    int agent,
                                    const CheckpointCopy& copy);
/// @throws CryptoError naming the agent if it was not sealed by this identity for this agent, or
/// was changed.
[[nodiscard]] CheckpointCopy open_copy(const Identity& identity,
                                       int agent,
                                       std::string_view sealed);

}  // namespace sotto
