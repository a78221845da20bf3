#pragma once

#include <string>

#include "program.hpp"

namespace sotto::test {

/// A folder in which the commands of pages run: the data of SOTTO_DATA_DIR, links to bench and
/// examples, and what the commands of docs/papers.md, section Files, make.
class PageFolder {
  public:
    PageFolder();

    /// In a shell that ends with the first command that fails; sotto and mpirun are those of the
    /// build, python3 is Debian's.
    [[nodiscard]] Outcome run(const std::string& command) const;

    /// The first file of data that a command names and that is not there; empty if all are.
    [[nodiscard]] std::string missing_file(const std::string& command) const;

  private:
    TempDir folder_;
};

}  // namespace sotto::test
