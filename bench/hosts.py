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
                          'mkdir -p /run/netns && mount -t tmpfs none /run/netns && exec "$@"', "sh",
                          sys.executable, *sys.argv])


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


def make_launcher(folder, hosts, ranks):
    """deploy/mpirun of so many ranks on the hosts, with what it starts instead of ssh."""
    file = pathlib.Path(folder) / "hosts"
    file.write_text("".join(f"{NETWORK}.{h} slots={ranks // hosts}\n" for h in range(1, hosts + 1)))
    agent = pathlib.Path(folder) / "agent"
    agent.write_text('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nhost=host${1##*.}; shift\n'
                     'exec ip netns exec $host unshare --uts sh -c "hostname $host; $*" >/dev/null 2>&1\n')
    agent.chmod(0o700)
    return ["ip", "netns", "exec", "host1", "unshare", "--uts", "sh", "-c", 'hostname host1; exec "$@"', "sh",
            common.ROOT / "deploy/mpirun", "-n", ranks, "--hostfile", file, "--network", f"{NETWORK}.0/24", "--mca",
            "plm_rsh_agent", agent]
