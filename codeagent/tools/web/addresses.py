"""Which addresses may be reached. Names are resolved here, and the connection goes to what was checked."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from urllib.parse import SplitResult, urlsplit

from codeagent.core.errors import CodeAgentError
from codeagent.core.web import ascii_host

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""(host, port) -> addresses in the order to try."""
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_UNICAST = ipaddress.ip_network("2000::/3")
"""What of IPv6 is handed out for the public network."""
_FAKED = ipaddress.ip_network("198.18.0.0/15")
"""Local proxies that take over the whole network answer every name with an address of this range."""
_METADATA = frozenset({"168.63.129.16"})
"""Services for a cloud's own machines that have a public address."""


def parse_url(text: str) -> SplitResult:
    """The parts of an http(s) address; one without a scheme is taken as https.

    Raises:
        CodeAgentError: it is none that may be fetched.
    """
    text = text.strip()
    if "://" not in text:
        text = f"https://{text}"
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https"):
        raise CodeAgentError("{url} is no address that can be fetched: only http and https are.", url=text[:200])
    if not host or any(char.isspace() or not char.isprintable() for char in text):
        raise CodeAgentError("{url} is no valid address.", url=text[:200])
    if parts.username is not None or parts.password is not None:
        raise CodeAgentError("An address with a user name or password in it is not fetched.")
    host = ascii_host(host)
    place = f"[{host}]" if ":" in host else host
    return parts._replace(netloc=f"{place}:{parts.port}" if parts.port else place, path=parts.path or "/", fragment="")


async def resolve(host: str, port: int) -> Sequence[str]:
    """What the system says of a name. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def checked(parts: SplitResult, resolving: Resolve, *, private: bool) -> Sequence[str]:
    """The addresses behind `parts`, all of them such as may be reached.

    Raises:
        CodeAgentError: the name is not known, or one of its addresses may not be reached.
    """
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = await resolving(host, port)
    except (OSError, UnicodeError) as error:
        raise CodeAgentError("{host} is not known here.", host=host) from error
    literal = _address(host) is not None
    for address in found:
        if not _allowed(address, private=private, literal=literal):
            raise CodeAgentError(
                "{host} is at {address}, which is not a public address: it is not fetched.", host=host, address=address
            )
    if not found:
        raise CodeAgentError("{host} is not known here.", host=host)
    return found


def _allowed(text: str, *, private: bool, literal: bool) -> bool:
    address = _address(text)
    if address is None or str(address) in _METADATA or address.is_link_local or address.is_multicast:
        return False
    if private or (not literal and address in _FAKED):
        return True
    return address.is_global and (address.version == 4 or address in _UNICAST)


def _address(text: str) -> _Address | None:
    """The address that is really meant: what is wrapped in one of IPv6 is unwrapped. None for a name."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        teredo = address.teredo
        return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)
    return address


def proxy_for(parts: SplitResult, environ: Mapping[str, str]) -> str | None:
    """The proxy that the environment names for an address; None for none. This very machine needs none."""

    def named(name: str) -> str:
        return environ.get(name.lower()) or environ.get(name.upper()) or ""

    host = parts.hostname or ""
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return None
    for entry in named("no_proxy").replace(" ", "").split(","):
        name = entry.rpartition(":")[0] if entry.rpartition(":")[2].isdigit() and entry.count(":") == 1 else entry
        name = name.lower().removeprefix("*").lstrip(".")
        if entry == "*" or (name and (host == name or host.endswith(f".{name}"))):
            return None
    proxy = named(f"{parts.scheme}_proxy") or named("all_proxy")
    return (proxy if "://" in proxy else f"http://{proxy}") if proxy else None
