"""Ways out, as an attacker would try them. Each does harm where nothing keeps it from that."""

from __future__ import annotations


def py(code: str) -> str:
    return "{python} -c '" + f"import ctypes, mmap, os, signal, socket\n{code}" + "'"


WRITES = {
    "redirection": "echo x > {o}/new",
    "appending": "echo x >> {o}/file",
    "overwriting": "echo x > {o}/file",
    "emptying": ": > {o}/file",
    "truncate, the program": "truncate -s 1 {o}/file",
    "truncate, the call": py('os.truncate("{o}/file", 1)'),
    "removing": "rm -f {o}/file",
    "removing a tree": "rm -rf {o}/folder",
    "removing a folder": "rmdir {o}/empty",
    "making a folder": "mkdir {o}/new",
    "moving in": "mv {o}/file {i}/",
    "moving out": "mv {i}/mine {o}/",
    "moving out, by rename alone": py('os.rename("{i}/mine", "{o}/mine")'),
    "moving outside": "mv {o}/file {o}/other",
    "moving a folder": "mv {o}/folder {i}/",
    "exchanging": py('ctypes.CDLL(None).renameat2(-100, b"{i}/mine", -100, b"{o}/file", 2)'),
    "a hard link to what is outside": "ln {o}/file {i}/hard && echo x > {i}/hard",
    "a hard link outside": "ln {i}/mine {o}/hard",
    "a link outside": "ln -s x {o}/link",
    "writing through a link": "ln -s {o}/file {i}/link; echo x > {i}/link",
    "writing through a linked folder": "ln -s {o} {i}/link; echo x > {i}/link/new",
    "a link swapped under a write": "ln -s {i} {i}/a; ln -sfn {o} {i}/a; cp {i}/mine {i}/a/new",
    "dots": "echo x > {i}/../outside/new",
    "the root of a process": "echo x > /proc/self/root{o}/new",
    "the root of another process": "echo x > /proc/{pid}/root{o}/new",
    "the folder of a process": "cd {o} && echo x > /proc/self/cwd/new",
    "a relative path": "cd {o} && echo x > new",
    "a folder held open": py('os.open("new", os.O_CREAT | os.O_WRONLY, dir_fd=os.open("{o}", os.O_PATH))'),
    "a file held open, opened anew": py(
        'fd = os.open("{o}/file", os.O_RDONLY)\nopen(f"/proc/self/fd/{{fd}}", "w").write("x")'
    ),
    "a file without a name": py(
        'fd = os.open("{o}", os.O_TMPFILE | os.O_WRONLY)\n'
        'ctypes.CDLL(None).linkat(-100, f"/proc/self/fd/{{fd}}".encode(), -100, b"{o}/new", 0x400)'
    ),
    "a pipe": "mkfifo {o}/pipe",
    "a socket": py('socket.socket(socket.AF_UNIX).bind("{o}/s")'),
    "copying": "cp {i}/mine {o}/file",
    "tee": "echo x | tee {o}/file",
    "dd": "dd if={i}/mine of={o}/file",
    "sed": "sed -i s/k/x/ {o}/file",
    "touch": "touch {o}/new",
    "git": "git init -q {o}/repository",
    "an archive": "tar cf - -C {i} mine | tar xf - -C {o}",
    "shared memory of a file": py('mmap.mmap(os.open("{o}/file", os.O_RDWR), 4)[0] = 65'),
    "a descriptor": "exec 5>>{o}/file; echo x >&5",
    "a process in the background": "(sleep 0.05; echo x > {o}/late) & wait",
    "a session of its own": "setsid -w bash -c 'echo x > {o}/new'",
    "eval and variables": "p={o}; eval \"$(printf 'ec%so x > $p/new' h)\"",
    "an encoded command": "echo ZWNobyB4ID4gIiQxIg== | base64 -d | bash -s {o}/new",
    "another interpreter": 'perl -e \'open F, ">", "{o}/new"; print F 1\'',
    "a program that was made": "printf '#!/bin/sh\\necho x > {o}/new\\n' > {i}/p; chmod +x {i}/p; {i}/p",
}
READS = {
    "cat": "cat {k}/id",
    "copying keys": "cp {k}/id {i}/id; cat {i}/id",
    "a hard link to a key": "ln {k}/id {i}/id; cat {i}/id",
    "a link to a key": "ln -s {k}/id {i}/id; cat {i}/id",
    "a link to the keys": "ln -s {k} {i}/keys; cat {i}/keys/id",
    "moving the keys": "mv {k} {i}/keys; cat {i}/keys/id",
    "dots to a key": "cat {i}/../keys/id",
    "the root of a process to a key": "cat /proc/self/root{k}/id",
    "the root of another process to a key": "cat /proc/{pid}/root{k}/id",
    "an archive of the keys": "tar cf - -C {k} id | cat",
    "searching the keys": "grep -r SECRET {k}",
    "a folder of keys held open": py(
        'fd = os.open("id", os.O_RDONLY, dir_fd=os.open("{k}", os.O_PATH))\nprint(os.read(fd, 99))'
    ),
    "the environment of another process": "cat /proc/{pid}/environ",
    "what another process has open": "echo x > /proc/{pid}/fd/1",
}
PROCESSES = {
    "kill": "kill -9 {pid}; sleep 0.05",
    "stopping": "kill -STOP {pid}; sleep 0.05",
    "killing the group": "kill -9 -- -{pid}; sleep 0.05",
    "a signal by handle": py("signal.pidfd_send_signal(os.pidfd_open({pid}), 9)") + "; sleep 0.05",
    "tracing": py('ctypes.CDLL(None).ptrace(16, {pid}, 0, 0) == 0 and print("REACHED")'),
}
NETWORK = {
    "the shell itself": "echo x > /dev/tcp/127.0.0.1/{tcp4}",
    "the shell itself, datagrams": "echo x > /dev/udp/127.0.0.1/{udp4}",
    "TCP": py('socket.create_connection(("127.0.0.1", {tcp4}))'),
    "TCP over IPv6": py('socket.create_connection(("::1", {tcp6}))'),
    "UDP": py('socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", {udp4}))'),
    "UDP over IPv6": py('socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b"x", ("::1", {udp6}))'),
    "multipath TCP": py('s = socket.socket(2, 1, 262)\ns.connect(("127.0.0.1", {tcp4}))'),
    "an abstract socket": py('socket.socket(socket.AF_UNIX).connect("\\0{abstract}")'),
}
LOCAL = {"a socket in the file system": py('socket.socket(socket.AF_UNIX).connect("{i}/l.sock")')}
STRICT = {*NETWORK, *LOCAL}
ATTACKS = WRITES | READS | PROCESSES | NETWORK | LOCAL
