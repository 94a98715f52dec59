"""What is refused as a secret, and what is not."""

from __future__ import annotations

import pytest

from codeagent.text.secrets import MASK, find_secret, mask_secrets

SECRET = [
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE",
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "the key is sk-abcdefghijklmnopqrstuvwx123456",
    "sk-proj-AbC_123-defghijklmnop",
    "sk-ant-api03-abcdefghij0123456789",
    "用 ghp_16C7e42F292c6912E7710c838347Ae178B4a 登录",
    "github_pat_11ABCDEFG0123456789_abc",
    "glpat-abcdefghij0123456789",
    "xoxb-123456789012-abcdefghij",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9",
    "Authorization: Bearer abcdef1234567890abcdef",
    "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "password=hunter2",
    "PASSWORD = correcthorse",
    "DB_PASSWORD=postgres1",
    "passwd: Tr0ub4dor&3",
    "The password is Tr0ub4dor&3.",
    "密码是 abc123456",
    "数据库密码：Qwerty!2024",
    "api_key=abcd1234efgh",
    "API key: 9f8e7d6c5b4a3210",
    "access_token = 'a1b2c3d4e5'",
    "postgres://app:s3cret@db.example.com/shop",
    "The AWS secret is wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKE1",
    "aws_secret_access_key: wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKE1",
    "hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345",
    "npm_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "SG.abcdefghijklmnopqrstuv.ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefg",
    "my password is correct-horse-battery",
    "my password is: swordfish",
    "密码是：swordfish",
    "The passphrase: correct.horse.battery.staple",
    "数据库密码 Abc123456",
    "password Tr0ub4dor3x",
    'secret_key = "abcdefghijklmnop"',
]
HARMLESS = [
    "Never store passwords in the repository.",
    "The password is in the company vault.",
    "The token is refreshed every 15 minutes.",
    "Tokens: at most 4096 per request.",
    "max_tokens=4096",
    "token=4096",
    "Set password=${DB_PASSWORD} in the compose file.",
    "password=<your password>",
    "password: ******",
    "api_key=os.environ['OPENAI_API_KEY']",
    "Read the API key from the environment variable OPENAI_API_KEY.",
    "password = getpass()",
    "密码存放在 1Password 里",
    "密码是必填项",
    "The password is: required",
    "密钥从环境变量读取",
    "口令不要写进仓库",
    "Use sk-learn style estimators and the risk-based approach everywhere.",
    "The public key is in docs/keys/deploy.pub.",
    "-----BEGIN PUBLIC KEY-----",
    "The repository is https://github.com/acme/shop and the port is 5433.",
    "ssh://git@github.com:22/acme/shop.git",
    "commit 16c7e42f292c6912e7710c838347ae178b4a is the last good one",
    "数据库端口是 5433，用户名 app",
    "The class TokenMeter is in memory/meter.py.",
    "secret: the tests need --runslow",
    "Passphrase is required for signing.",
    "The access key is optional.",
    "The password must have 12 characters.",
    "The password is state-of-the-art, and end-to-end encrypted.",
    "The token bucket algorithm limits requests; see the bucket4j docs.",
    "password hashing: bcrypt, then argon2id",
    "The password validator lives in src/auth/PasswordValidator2.py",
    "The passwords are in config.secrets.md, never in code.",
    "AWS deploys run from infrastructure/Terraform/Modules/Network2/main.tf",
    "The AWS secret 16c7e42f292c6912e7710c838347ae178b4a1234 is a commit, no key.",
    "密码 长度至少 12 位",
    "密码 validation2 规则在 docs/auth.md",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "uuid 123e4567-e89b-12d3-a456-426614174000 is the test tenant",
    "hf_transfer and npm_config_registry are environment variables.",
]


@pytest.mark.parametrize("text", SECRET)
def test_secrets_are_seen(text: str) -> None:
    assert find_secret(text) is not None


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_speaks_of_secrets_passes(text: str) -> None:
    assert find_secret(text) is None


@pytest.mark.parametrize("text", SECRET)
def test_masked_text_holds_no_secret_and_all_around_it(text: str) -> None:
    masked = mask_secrets(f"before\n{text}\nafter")
    assert find_secret(masked) is None
    assert (masked[:7], MASK in masked) == ("before\n", True)
    assert masked.endswith("\nafter") or "PRIVATE KEY" in text, "a key without an end is taken to go on"


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_stays_as_it_is(text: str) -> None:
    assert mask_secrets(text) == text


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("a -----BEGIN EC PRIVATE KEY-----\nMHcC\nAQEE\n-----END EC PRIVATE KEY----- b", f"a {MASK} b"),
        ("https://me:s3cret@x.org/?token=abcd1234", f"https://me:{MASK}@x.org/?token={MASK}"),
        ("密码是 abc123456，端口是 5432", f"密码是 {MASK}，端口是 5432"),
    ],
)
def test_only_the_secret_is_masked(text: str, masked: str) -> None:
    assert mask_secrets(text) == masked
