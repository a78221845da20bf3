#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "net/agent_blocks.hpp"
#include "net/mpi/world.hpp"
#include "net/network.hpp"
#include "trust/link_cipher.hpp"

namespace sotto {

/// Control::fold_over_agents of this process's agents: process 0 collects all values piece by
/// piece, folds them in ascending order, and returns the result.
class MpiFold {
  public:
    MpiFold(MpiWorld& world, AgentBlocks blocks) : world_(world), blocks_(blocks) {}

    /// Seals all messages from now on. @param ciphers from collection_ciphers.
    void protect(std::vector<LinkCipher> ciphers);

    /// COLLECTIVE. @param local dimension x local agents.
    /// @param check called on process 0 for every piece from other processes; may be empty.
    /// @throws CryptoError if a piece is not what was sent.
    [[nodiscard]] Eigen::VectorXd run(const Eigen::MatrixXd& local,
                                      Fold fold,
                                      const CollectedCheck& check);

  private:
    struct Piece {
        ChunkAddress address;
        Eigen::Index first, count;
        /// Bytes on the wire of this piece of so many agents.
        [[nodiscard]] std::size_t size(int agents, bool encrypted) const;
    };
    void collect(const Piece& piece, const Eigen::MatrixXd& local);
    /// On process 0: folds the collected values into `total`, agent by agent.
    void fold_collected(const Piece& piece,
                        Fold fold,
                        const CollectedCheck& check,
                        Eigen::Ref<Eigen::VectorXd> total);
    void give_back(const Piece& piece, Eigen::Ref<Eigen::VectorXd> total);
    [[nodiscard]] bool collects() const { return world_.rank() == 0; }

    MpiWorld& world_;
    AgentBlocks blocks_;
    bool encrypted_ = false;
    std::vector<LinkCipher> ciphers_;
    std::int64_t folds_ = 0;
    // One sealed piece of this process; on process 0 those of all.
    std::vector<std::uint8_t> own_, all_;
    std::vector<int> starts_, sizes_;  // by process, on process 0
    Eigen::VectorXd scratch_;          // one agent's values on process 0
};

}  // namespace sotto
