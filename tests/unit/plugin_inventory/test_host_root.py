"""Reading below a host root: what comes back, what fails how, and that nothing leaves it."""

import errno
from pathlib import Path

import pytest

from fpga_plugin.host.failures import Broken, Busy, Missing, Unreadable, unreadable
from fpga_plugin.host.root import HostRoot


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "sys/devices/card").mkdir(parents=True)
    (folder / "sys/class").mkdir()
    return folder


def test_text_loses_nul_padding_and_white_space(root: Path) -> None:
    (root / "sys/id").write_bytes(b" 0x10\n" + b"\0" * 4000)
    assert HostRoot(root).text("/sys/id") == "0x10"


def test_at_most_a_page_is_read(root: Path) -> None:
    (root / "sys/long").write_bytes(b"a" * 5000)
    assert len(HostRoot(root).text("/sys/long")) == 4096


def test_text_that_is_not_utf8_is_still_text(root: Path) -> None:
    (root / "sys/id").write_bytes(b"\xff\xfea\n")
    assert HostRoot(root).text("/sys/id").endswith("a")


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOENT, Missing),
        (errno.ENODEV, Missing),
        (errno.EBUSY, Busy),
        (errno.EIO, Broken),
        (errno.EINVAL, Broken),
    ],
)
def test_an_errno_decides_the_kind_of_failure(number: int, kind: type[Unreadable]) -> None:
    failure = unreadable("/sys/x", OSError(number, ""))
    assert type(failure) is kind
    assert failure.errno_name == errno.errorcode[number]
    assert "/sys/x" in failure.message


def test_a_missing_file_is_missing_and_a_folder_is_broken(root: Path) -> None:
    host = HostRoot(root)
    with pytest.raises(Missing):
        host.text("/sys/none")
    with pytest.raises(Broken, match="EISDIR"):
        host.text("/sys/class")


def test_an_attribute_that_is_a_link_is_not_followed(root: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (root / "sys/id").symlink_to(secret)
    with pytest.raises(Broken):
        HostRoot(root).text("/sys/id")


@pytest.mark.parametrize(
    ("target", "resolved"),
    [
        ("../devices/card", "/sys/devices/card"),
        ("/sys/devices/card", "/sys/devices/card"),
        ("../../../../../../sys/devices/card", "/sys/devices/card"),
        ("../../../../etc", "/etc"),
        ("../devices/none/x", "/sys/devices/none/x"),
    ],
)
def test_links_are_resolved_inside_the_root(root: Path, target: str, resolved: str) -> None:
    (root / "sys/class/card").symlink_to(target)
    assert HostRoot(root).resolve("/sys/class/card") == resolved


def test_links_in_a_circle_are_missing(root: Path) -> None:
    (root / "sys/class/a").symlink_to("b")
    (root / "sys/class/b").symlink_to("a")
    with pytest.raises(Missing):
        HostRoot(root).resolve("/sys/class/a")


def test_names_of_no_folder_are_none(root: Path) -> None:
    assert HostRoot(root).names("/sys/none") == ()
    assert HostRoot(root).names("/sys") == ("class", "devices")


def test_files_below_stop_at_links_depth_and_power_folders(root: Path) -> None:
    for path in ("a", "x/b", "x/y/c", "power/d"):
        file = root / "sys/devices/card" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    (root / "sys/devices/card/loop").symlink_to(".")
    assert HostRoot(root).files_below("/sys/devices/card", depth=1) == (
        "/sys/devices/card/a",
        "/sys/devices/card/loop",
        "/sys/devices/card/x/b",
    )


def test_only_the_machines_own_root_is_real(root: Path) -> None:
    assert HostRoot(Path("/")).real
    assert HostRoot(Path("/")).complete
    assert not HostRoot(root).real
    assert not HostRoot(root).complete
    (root / ".fpga-sim").mkdir()
    assert HostRoot(root).complete


def test_a_real_device_has_a_number_and_a_file_has_none(root: Path) -> None:
    assert HostRoot(Path("/")).device_number("/dev/null") == (1, 3)
    (root / "dev").mkdir()
    (root / "dev/port").write_text("")
    assert HostRoot(root).device_number("/dev/port") is None
    with pytest.raises(Missing):
        HostRoot(root).device_number("/dev/none")


def test_identity_changes_when_a_file_is_another_one(root: Path) -> None:
    host, path = HostRoot(root), root / "sys/id"
    absent = host.identity(["/sys/id"])
    path.write_text("")
    first = host.identity(["/sys/id"])
    (root / "sys/other").write_text("")
    (root / "sys/other").replace(path)
    assert len({absent, first, host.identity(["/sys/id"])}) == 3
