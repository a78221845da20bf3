"""Hosts of one's own: network namespaces with one link each, and how to start ranks on them. Needs root."""
import os
import pathlib
import subprocess
import sys

import common

NETWORK = "10.78.0"


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, text=True, stdout=subprocess.PIPE, **more).stdout


def in_own_namespaces():
    """Starts the script again where its hosts disturb nobody, and end with it."""
    if os.geteuid() != 0:
        raise SystemExit("bench: hosts of one's own need root")
    if os.environ.get("BENCH_NAMESPACES") == "own":
        return
    os.environ["BENCH_NAMESPACES"] = "own"
    os.execvp("unshare", ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
                          # Open MPI names folders and shared memory by host and process: as in other namespaces.
                          'mkdir -p /run/netns && mount -t tmpfs none /run/netns && for d in /tmp /dev/shm; do mount -t tmpfs none $d; done && exec "$@"', "sh",
                          sys.executable, *sys.argv])


def make_switch(hosts, latency, bits):
    """Hosts, and the switch between them, with so many seconds one way; and the links' ends here."""
    ports = make_hosts(hosts, bits)
    # Frames as they are on a wire: with their checksums, and no longer than a segment.
    for host in range(1, hosts + 1):
        run("ip", "netns", "exec", f"host{host}", "ethtool", "-K", "eth0", "tx", "off", "tso", "off", "gso", "off", "gro", "off")
    # A switch does not wait for a core until ranks leave it one.
    switch = subprocess.Popen(["chrt", "--fifo", "10", common.program("slow_switch"), str(latency), str(bits)] + ports, stdout=subprocess.PIPE)
    if switch.stdout.readline() != b"ready\n":
        raise SystemExit("bench: the switch did not start")
    return switch, ports


def make_hosts(hosts, bits, burst="16kb"):
    """host1 to hostN, each with a link to this namespace that sends so many bits a second. Returns the links' ends here."""
    ports = []
    run("ip", "link", "set", "lo", "up")
    for host in range(1, hosts + 1):
        name = f"host{host}"
        ports.append(f"port{host}")
        run("ip", "netns", "add", name)
        run("ip", "link", "add", ports[-1], "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", ports[-1], "up")
        run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", name, "address", "add", f"{NETWORK}.{host}/24", "dev", "eth0")
        run("ip", "-n", name, "link", "set", "eth0", "up")
        # The link's own queue is the host's, as with a real one: a flow puts little into it at a time.
        run("tc", "-n", name, "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", f"{bits:.0f}bit", "burst", burst,
            "limit", "4mb")
    return ports


def make_launcher(folder, hosts, ranks, launched_on=1, disk=None):
    """deploy/mpirun of so many ranks on the hosts, started on one of them (or another), with what it starts instead of ssh.
    disk: folder that is another one on each host, folder/diskN on host N. No host is reached while there is a file
    folder/hostN.away."""
    file = pathlib.Path(folder) / "hosts"
    file.write_text("".join(f"{NETWORK}.{h} slots={-(-ranks // hosts)}\n" for h in range(1, hosts + 1)))
    agent = pathlib.Path(folder) / "agent"
    mount = ""
    if disk:
        mount = f"mount --bind {folder}/disk${{host#host}} {disk}; "
        pathlib.Path(disk).mkdir()
        for host in range(1, max(hosts, launched_on) + 1):
            (pathlib.Path(folder) / f"disk{host}").mkdir()
    agent.write_text('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nhost=host${1##*.}; shift\n'
                     f'[ ! -e {folder}/$host.away ] || exit 255\n'
                     'case $* in *orted*) exec >/dev/null 2>&1 ;; esac\n'
                     f'ip netns exec $host unshare --uts --mount sh -c "hostname $host; {mount}$*" || exit 255\n')
    agent.chmod(0o700)
    own = mount.replace("${host#host}", str(launched_on))
    return ["ip", "netns", "exec", f"host{launched_on}", "unshare", "--uts", "--mount", "sh", "-c",
            f'hostname host{launched_on}; {own}exec "$@"', "sh",
            common.ROOT / "deploy/mpirun", "-n", ranks, "--hostfile", file, "--network", f"{NETWORK}.0/24", "--mca",
            "plm_rsh_agent", agent]
