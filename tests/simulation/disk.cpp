#include "simulation/disk.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace sotto::simulation {

std::optional<std::string> content_of(const std::string& path) {
    const long file = ::syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC, 0);
    if (file < 0) return std::nullopt;
    std::string content;
    char buffer[4096];
    for (long count = 0; (count = ::syscall(SYS_read, file, buffer, sizeof buffer)) > 0;)
        content.append(buffer, static_cast<std::size_t>(count));
    ::syscall(SYS_close, file);
    return content;
}

void set_content(const std::string& path, std::string_view content) {
    const long file = ::syscall(
        SYS_openat, AT_FDCWD, path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return;
    (void)::syscall(SYS_write, file, content.data(), content.size());
    ::syscall(SYS_close, file);
}

namespace {

void restore(const std::string& path, const std::optional<std::string>& content) {
    if (content)
        set_content(path, *content);
    else
        (void)::syscall(SYS_unlinkat, AT_FDCWD, path.c_str(), 0);
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

void Disk::opens(const std::string& path) {
    if (std::ranges::none_of(contents_, [&](const Change& one) { return one.path == path; }))
        contents_.push_back({current()->number, path, content_of(path)});
}

void Disk::renames(const std::string& from, const std::string& to) {
    names_.push_back({current()->number, to, content_of(to)});
    std::erase_if(contents_, [&](const Change& one) { return one.path == to; });
    for (Change& one : contents_)
        if (one.path == from) one.path = to;
}

void Disk::removes(const std::string& path) {
    auto before = content_of(path);
    if (!before) return;
    names_.push_back({current()->number, path, std::move(before)});
    std::erase_if(contents_, [&](const Change& one) { return one.path == path; });
}

void Disk::flushed(int file) {
    struct stat status {};
    if (::fstat(file, &status) != 0) return;
    char link[64], name[4096];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t size = ::readlink(link, name, sizeof name);
    const std::string path(name, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    if (S_ISDIR(status.st_mode))
        std::erase_if(names_, [&](const Change& one) { return folder_of(one.path) == path; });
    else
        std::erase_if(contents_, [&](const Change& one) { return one.path == path; });
}

int Disk::fault_of(Rank& rank, bool flush, std::size_t& size) {
    const long number = rank.writes++;
    const auto& faults = world_.options().faults;
    for (std::size_t i = 0; i < faults.size(); ++i) {
        const Fault& fault = faults[i];
        const long before = counted(fault, rank, number);
        if (!is_of_disk(fault.kind) || fault.rank != rank.place || before < fault.at) continue;
        const bool full = fault.kind == FaultKind::disk_full &&
                          static_cast<double>(before - fault.at) < fault.seconds;
        const bool error = fault.kind == FaultKind::disk_error && flush && world_.fired()[i] == 0;
        const bool half =
            fault.kind == FaultKind::short_write && !flush && size > 1 && world_.fired()[i] == 0;
        if (!full && !error && !half) continue;
        ++world_.fired()[i];
        world_.trace(std::string(name_of(fault.kind)));
        if (full) return ENOSPC;
        if (error) return EIO;
        size /= 2;
    }
    return 0;
}

void Disk::lose_power(const Rank& rank) {
    std::vector<Change> own;
    const auto take = [&](std::vector<Change>& changes) {
        own.clear();
        for (const Change& one : changes)
            if (one.number == rank.number) own.push_back(one);
        std::erase_if(changes, [&](const Change& one) { return one.number == rank.number; });
    };
    take(contents_);
    for (const Change& one : own) {
        const auto way = random_.below(3);
        if (way == 0) restore(one.path, one.before);
        if (way != 1) continue;
        if (const auto now = content_of(one.path); now && !now->empty())
            set_content(one.path, std::string_view(*now).substr(0, random_.below(now->size())));
    }
    take(names_);
    const auto kept = random_.below(own.size() + 1);
    for (std::size_t i = own.size(); i > kept; --i) restore(own[i - 1].path, own[i - 1].before);
    world_.trace(fmt::format("{} of {} changes of names are lost", own.size() - kept, own.size()));
}

}  // namespace sotto::simulation
