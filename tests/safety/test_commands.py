from __future__ import annotations

from pathlib import Path

import pytest

from codeagent.safety.commands import compound, only_looks, parts


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A project with a link that leads out of it."""
    top = tmp_path.resolve() / "project"
    (top / "src").mkdir(parents=True)
    (top / "src/a.py").write_text("")
    (top / "out").symlink_to("/etc")
    return top


@pytest.mark.parametrize(
    "command",
    [
        *("ls", "ls -la src", "cat src/a.py", "pwd", "head -n 5 src/a.py", "wc -l src/a.py", "echo 'hi there'"),
        *(
            "git status",
            "git diff HEAD~1 -- src/a.py",
            "git log --oneline -5",
            "git --no-pager show HEAD",
            "git branch",
        ),
        *("git branch --show-current", "git stash list", "git blame src/a.py", "git rev-parse HEAD^"),
        *("find . -name '*.py'", 'rg "def main" src', "grep -rn main src", "true", "  ls  ", "ls 文件"),
    ],
)
def test_plain_reading_is_known(top: Path, command: str) -> None:
    assert only_looks(command, top, [top])


@pytest.mark.parametrize(
    "command",
    [
        # more than one command, or more than it seems
        *(
            "ls; rm x",
            "ls && rm x",
            "ls | sh",
            "ls & rm x",
            "ls\nrm x",
            "echo $(rm x)",
            "echo `rm x`",
            "cat < x",
            "ls > x",
        ),
        *(
            "echo $HOME",
            "cat {a,/etc/passwd}",
            "ls *",
            "git diff *",
            "cat ~/x",
            "echo a\\;b",
            "ls # x",
            "ls !$",
            "ls (x)",
        ),
        # unknown or acting commands
        *(
            "",
            "rm x",
            "npm test",
            "python x.py",
            "env ls",
            "sudo ls",
            "X=1 ls",
            "./ls",
            "/bin/ls",
            "sort -o x y",
            "tee x",
        ),
        *("git push", "git commit -m x", "git -c a=b status", "git branch new", "git branch -D x", "git tag v1", "git"),
        *("git stash", "git stash -a", "git stash pop", "git remote add x y", "git checkout x", "git log --output=x"),
        *("git diff --outp=x", "git diff --ext-diff", "git show --textconv", "git grep -Oless x", "git config a b"),
        *("find . -delete", "find . -exec rm x", "find . -fprint x", "rg --pre sh x", "rg -L x", "rg -zi x"),
        *("grep -R x", "grep -nR x ."),
        # out of the project
        *("cat /etc/passwd", "cat ../x", "cat src/../../x", "cat out/passwd", "ls /", "grep -f/etc/passwd x src"),
        *("diff --from-file=/etc/passwd src/a.py", "git diff --no-index /etc/passwd src/a.py", "grep -rf../../x src"),
        "cat 'unclosed",
    ],
)
def test_whatever_is_in_doubt_is_not(top: Path, command: str) -> None:
    assert not only_looks(command, top, [top])


def test_the_folder_it_runs_in_counts(top: Path) -> None:
    assert only_looks("ls", top / "src", [top])
    assert not only_looks("ls", top.parent, [top])
    assert not only_looks("cat passwd", top / "out", [top])
    assert only_looks("cat ../x", top / "src", [top])


@pytest.mark.parametrize("operator", [";", "&", "&&", "|", "||", "`", "$", "(", ")", "<", ">", "\n", "\r"])
def test_any_operator_makes_it_compound(operator: str) -> None:
    assert compound(f"npm test {operator} x")
    assert not compound("npm test -- x")


def test_the_parts_of_a_command() -> None:
    assert parts("cd a && X=1 Y=2 rm -rf b; echo $(git push) | tee c\n{ x; }") == [
        *("cd a", "rm -rf b", "echo", "git push", "tee c", "x"),
    ]
