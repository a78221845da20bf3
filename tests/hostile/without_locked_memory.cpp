// Runs a program that may lock no memory, as `ulimit -l 0` of a user who is not root.
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_MEMLOCK, &none) != 0) return 3;
    // Root may lock memory whatever the limit is.
    ::prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0);
    ::execvp(argv[1], argv + 1);
    std::perror(argv[1]);
    return 4;
}
