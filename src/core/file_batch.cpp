#include "file_batch.hpp"

#include <cstdio>
#include <set>
#include <utility>
#include <vector>

#include "disk.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

thread_local FileBatch* of_this_thread = nullptr;

}  // namespace

FileBatch::FileBatch() : outer_(std::exchange(of_this_thread, this)) {}

FileBatch::~FileBatch() {
    of_this_thread = outer_;
    std::error_code ignored;
    for (const auto& [temporary, entry] : entries_) fs::remove(temporary, ignored);
}

FileBatch* FileBatch::current() { return of_this_thread; }

void FileBatch::add(const fs::path& temporary, fs::path target, bool to_disk) {
    entries_.insert_or_assign(temporary, Entry{std::move(target), to_disk});
}

void FileBatch::commit() {
    std::vector<fs::path> files, targets;
    std::set<fs::path> folders;
    for (const auto& [temporary, entry] : entries_)
        if (entry.to_disk) {
            files.push_back(temporary);
            targets.push_back(entry.target);
            folders.insert(folder_of(entry.target));
        }
    flush_to_disk(files, targets);
    for (const auto& [temporary, entry] : entries_)
        if (std::rename(temporary.c_str(), entry.target.c_str()) != 0)
            throw_unwritable(entry.target);
    entries_.clear();
    flush_to_disk(std::vector(folders.begin(), folders.end()));
}

}  // namespace sotto
