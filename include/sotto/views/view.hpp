#pragma once

#include <algorithm>
#include <vector>

namespace sotto {

/// What an observer receives: messages of neighbours that are there. An agent that has departed
/// receives nothing more, and keeps what it knows. With a trusted mean every view sees the means
/// only. Besides, a coalition knows its members' gradients and noise, and the
/// noise of every stream whose seed a member holds.
struct View {
    enum class Kind {
        all_messages,  ///< every message of every agent; members may be empty (the eavesdropper)
        neighbours,    ///< what the neighbours of the members send to them (node, coalition)
        secure_sum     ///< only the weighted sums of the members' closed neighbourhoods
    };
    Kind kind = Kind::all_messages;
    std::vector<int> members;  ///< ascending

    [[nodiscard]] bool has_member(int agent) const {
        return std::binary_search(members.begin(), members.end(), agent);
    }
    /// Why the figure holds: for training only `all_messages` bounds adaptive gradients
    /// (docs/equations.md 8); every view is exact for inputs fixed in advance.
    [[nodiscard]] bool sound_for_training() const { return kind == Kind::all_messages; }

    friend bool operator==(const View&, const View&) = default;
};

}  // namespace sotto
