"""What of a file or of a program's output is taken for a secret, and what of whole libraries is not."""

from __future__ import annotations

import http.client
import shlex
import ssl
import token
import tokenize
import urllib.request
from pathlib import Path

import pytest

from codeagent.text.leaks import leaks

HELD = [
    ("DB_PASSWORD=hunter2\n", ["hunter2"]),
    ("export GITHUB_TOKEN='ghp_16C7e42F292c6912E7710c838347Ae178B4a'", ["ghp_16C7e42F292c6912E7710c838347Ae178B4a"]),
    ('SECRET_KEY="a b$c d"\nDEBUG=1', ["a b$c d"]),
    ("     3\tSTRIPE_SECRET=abcdEFGH\n     4\tPORT=80", ["abcdEFGH"]),
    ("docker run -e API_KEY=9f8e7d6c5b4a3210 app", ["9f8e7d6c5b4a3210"]),
    ('{"api_key": "9f8e7d6c5b4a3210", "user": "app"}', ["9f8e7d6c5b4a3210"]),
    ("password = 'Tr0ub4dor&3x'", ["Tr0ub4dor&3x"]),
    ("  db-password: Tr0ub4dor&3x\n  port: 5432\n", ["Tr0ub4dor&3x"]),
    ("accessToken => \"1a2B3c4D5e6F\",", ["1a2B3c4D5e6F"]),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYabcdefKEY1", ["wJalrXUtnFEMI/K7MDENG/bPxRfiCYabcdefKEY1"]),
    ("postgres://app:s3cret@db.local/shop", ["s3cret"]),
    ("Authorization: Bearer abcdef1234567890abcdef", ["abcdef1234567890abcdef"]),
    ("用 sk-proj-AbC_123-defghijklmnop 登录", ["sk-proj-AbC_123-defghijklmnop"]),
    ("AKIAIOSFODNN7ABCDEFG、npm_AbCdEfGhIjKlMnOpQrStUv01。", ["AKIAIOSFODNN7ABCDEFG", "npm_AbCdEfGhIjKlMnOpQrStUv01"]),
    (
        "1\t-----BEGIN RSA PRIVATE KEY-----\n2\tMIIEpAIBAAKCAQEA7bq\n3\tqZ0v9yT8sVn3kQ==\n"
        "4\t-----END RSA PRIVATE KEY-----\n5\tx",
        ["MIIEpAIBAAKCAQEA7bq", "qZ0v9yT8sVn3kQ=="],
    ),
]  # fmt: skip
HARMLESS = [
    "token = next_token2(stream)",
    "password = os.environ['DB_PASSWORD']",
    "DB_PASSWORD=${DB_PASSWORD:-none}",
    "API_KEY=$(pass show key)",
    "TOKEN=<your token here>",
    "PASSWORD=changeme",
    "PASSWORD=********",
    "MAX_TOKENS=4096",
    "KEY_FILE=/etc/ssl/private/key.pem",
    'label_password: "Enter your password"',
    'password: "validators/password_2"',
    "token_type = 'bearer'",
    'nextToken: "GpgauLEezucl5LV0w9"',
    "publicKeyToken=\"1fc8b3b9a1e18e3b\"",
    "secret_name: projects/app-1/secrets/db",
    "AKIAIOSFODNN7EXAMPLE",
    "https://user:password@example.org/",
    "https://user:pass@example.org/",
    "ssh://git@github.com:22/acme/shop.git",
    "commit 16c7e42f292c6912e7710c838347ae178b4a is the last good one",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
    "integrity sha512-9f8e7d6c5b4a3210abcdefABCDEF==",
    "密码：见保险箱",
]  # fmt: skip


@pytest.mark.parametrize(("text", "secrets"), HELD)
def test_secrets_are_found_and_nothing_around_them(text: str, secrets: list[str]) -> None:
    assert [text[start:end] for start, end in leaks(text)] == secrets


@pytest.mark.parametrize("text", HARMLESS)
def test_code_and_stand_ins_pass(text: str) -> None:
    assert leaks(text) == []


def test_libraries_about_tokens_and_passwords_hold_none() -> None:
    modules = (urllib.request, http.client, token, tokenize, ssl, shlex)
    texts = [Path(str(module.__file__)).read_text("utf-8") for module in modules]
    assert [leaks(text) for text in texts] == [[]] * len(texts)


@pytest.mark.parametrize(
    "piece", ["a", "pass", "://", "token=", "A_KEY=", "password: '", "sk-", "key-", "Bearer ", "eyJabcdefgh-", "SG."]
)
def test_long_runs_of_anything_are_read_in_passing(piece: str) -> None:
    """What grew with the square of the length would not come to an end here."""
    text = "://" + piece * (400_000 // len(piece))
    assert len(leaks(text)) < len(text)
