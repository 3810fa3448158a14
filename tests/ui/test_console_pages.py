"""What pages say, over HTTP and without scripts: forms, filters, failures, escaping."""

import io
import re

import pytest

from fpga_common.domain.load import LoadState
from support import console_seed as seed
from support.console_manager import ConsoleManager
from ui.conftest import Console

HELD = "/devices/fpga-a/0000:3b:00.0-r0"
FREE = "/devices/fpga-a/0000:5e:00.0-r0"
PAGES = ("/", "/devices", FREE, "/loads", "/bitstreams", "/nodes")


def _hidden(html: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', html)
    assert found, f"no field {name}"
    return found[1]


def test_a_load_is_asked_for_by_plain_forms(console: Console) -> None:
    client = console.signed_in()
    assert seed.digest(2) in client.get(HELD).text
    confirm = client.get(f"{HELD}/load?bitstream={seed.digest(2)}&if_busy=wait&persist=yes").text
    for named in ("fpga-a", "0000:3b:00.0-r0", seed.NLB0, seed.SORT, "vision/encoder-7c9d8"):
        assert named in confirm
    key = _hidden(confirm, "key")
    form = {
        "bitstream": _hidden(confirm, "bitstream"),
        "if_busy": "wait",
        "persist": "yes",
        "key": key,
    }
    answer = client.post(f"{HELD}/load", data=form)

    load = console.manager.loads[0]
    assert answer.status_code == 303
    assert answer.headers["Location"] == f"/loads/{load.id}"
    assert console.manager.idempotency_keys == [key]
    assert load.persist
    assert "Queued" in client.get(f"/loads/{load.id}").text


def test_only_bitstreams_that_fit_are_offered_and_the_others_say_why_not(console: Console) -> None:
    html = console.signed_in().get(FREE).text
    offered = re.findall(r'<option value="(sha256:[0-9a-f]+)">', html)

    assert sorted(offered) == [seed.digest(1), seed.digest(2), seed.digest(3)]
    assert "hello-afu" in html
    assert "made for interface 9346116d…, the device has a5d72a3c…" in html


def test_a_load_that_does_not_fit_is_refused_with_both_interfaces(console: Console) -> None:
    answer = console.signed_in().post(f"{FREE}/load", data={"bitstream": seed.digest(4)})

    assert answer.status_code == 409
    assert seed.N3000 in answer.text
    assert seed.D5005 in answer.text


def test_a_static_device_offers_no_load(console: Console) -> None:
    html = console.signed_in().get("/devices/fpga-b/0000:af:00.0-r0").text
    assert "This device is static: it cannot be programmed." in html
    assert "Continue" not in html


def test_a_load_is_cancelled_by_a_plain_form(console: Console) -> None:
    load = next(load for load in console.manager.loads if load.state is LoadState.PROGRAMMING)
    client = console.signed_in()
    assert client.post(f"/loads/{load.id}/cancel").status_code == 303
    assert "The load was asked to stop." in client.get(f"/loads/{load.id}").text


def test_a_failed_load_shows_what_was_expected_and_what_was_found(console: Console) -> None:
    load = next(load for load in console.manager.loads if load.state is LoadState.FAILED)
    html = console.signed_in().get(f"/loads/{load.id}").text

    assert "The AFU read back is not the bitstream" in html
    assert "verification_mismatch" in html
    assert seed.NLB0 in html
    assert seed.SORT in html
    assert "Load again" in html


def test_filters_stand_in_the_address(console: Console) -> None:
    html = console.signed_in().get("/devices?health=unhealthy&node=fpga-b").text
    assert "1 device match" in html
    assert "0000:5e:00.0-r0" in html
    assert "0000:86:00.0-r0" not in html


def test_no_match_says_the_filter_and_offers_to_clear_it(console: Console) -> None:
    html = console.signed_in().get("/devices?q=zzz&node=fpga-a").text
    assert "No device matches" in html
    assert "Nothing has text “zzz”, node fpga-a." in html
    assert "Clear the filter" in html


def test_an_empty_cluster_says_what_to_do_next(console: Console) -> None:
    console.manager.devices = []
    console.manager.nodes = []
    console.manager.loads = []
    client = console.signed_in()

    assert "No device is known yet" in client.get("/devices").text
    assert "No node has reported yet" in client.get("/").text
    assert "No load has been asked for yet" in client.get("/loads").text


def test_a_device_of_a_silent_node_is_unknown_and_says_when_it_was_seen(console: Console) -> None:
    console.manager.silence("fpga-a")
    client = console.signed_in()
    row = client.get("/devices?node=fpga-a").text

    assert "last seen" in row
    assert "4 min ago" in row
    assert 'class="status good"' not in row.split("<tbody>")[1]
    assert "The node stopped reporting" in client.get(FREE).text
    assert "1 silent" in client.get("/").text


def test_what_the_manager_says_is_escaped(console: Console) -> None:
    evil = "<script>alert(1)</script>\"'><img src=x>"
    console.manager.bitstreams[0].name = evil
    console.manager.devices[0].model = evil
    console.manager.loads[5].bitstream.name = evil
    console.manager.nodes[0].facts.kernel = evil
    client = console.signed_in()
    for path in (*PAGES, HELD, f"/loads/{console.manager.loads[5].id}", f"/devices?q={evil}"):
        html = client.get(path).text
        assert "<script>alert" not in html, path
        assert "<img src=x" not in html, path


@pytest.mark.parametrize("path", PAGES)
def test_every_page_says_how_old_its_data_is(console: Console, path: str) -> None:
    html = console.signed_in().get(path).text
    assert re.search(r'Read\s+<time datetime="[0-9T:.Z-]+"', html)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_says_plainly_that_the_manager_is_away(console: Console, path: str) -> None:
    client = console.signed_in()
    console.manager.stop()
    answer = client.get(path)
    fragment = client.get(path, headers={"HX-Request": "true"})

    assert answer.status_code == 503
    assert "The manager cannot be reached" in answer.text
    assert fragment.status_code == 503
    assert fragment.headers["HX-Reswap"] == "none"


def test_the_sign_in_page_says_that_the_manager_is_away(console: Console) -> None:
    console.manager.stop()
    client = console.client()
    form = client.get("/sign-in")
    tried = client.post("/sign-in", data={"token": "any-token"})

    assert form.status_code == 200
    assert "The manager cannot be reached" in form.text
    assert tried.status_code == 503
    assert "Nobody can sign in until it answers again." in tried.text


def test_the_console_is_alive_while_the_manager_is_away(console: Console) -> None:
    console.manager.stop()
    assert console.client().get("/healthz").text == "ok\n"


@pytest.mark.parametrize(
    "path",
    [
        "/devices/fpga-a/nothing",
        "/loads/unknown",
        "/loads/a.b",
        f"{FREE}/load?bitstream=nothing",
        "/nothing",
    ],
)
def test_what_does_not_exist_is_a_page_with_the_request_id(console: Console, path: str) -> None:
    answer = console.signed_in().get(path)
    assert answer.status_code == 404
    assert answer.headers["X-Request-Id"] in answer.text


def test_a_file_is_uploaded_under_its_own_name(console: Console) -> None:
    client = console.signed_in()
    file = {"file": ("my-afu.gbs", io.BytesIO(b"XeonFPGA" + b"\0" * 100))}
    answer = client.post("/bitstreams", files=file, data={"name": "", "version": "1.0"})

    assert answer.status_code == 303
    assert console.manager.bitstreams[-1].name == "my-afu"
    assert "my-afu@1.0 is stored." in client.get("/bitstreams").text


def test_a_refused_file_says_which_field_was_wrong(console: Console) -> None:
    client = console.signed_in()
    file = {"file": ("bad.gbs", io.BytesIO(b"NotAGBS!" + b"\0" * 100))}
    answer = client.post("/bitstreams", files=file, data={"name": "bad"})

    assert answer.status_code == 422
    for said in ("magic", "XeonFPGA", "NotAGBS!"):
        assert said in answer.text
    assert 'value="bad"' in answer.text


def test_no_file_is_asked_for(console: Console) -> None:
    answer = console.signed_in().post("/bitstreams", data={"name": "x"})
    assert answer.status_code == 400
    assert "Choose a file first." in answer.text


def test_the_theme_is_remembered_also_after_signing_out(console: Console) -> None:
    client = console.signed_in()
    answer = client.post("/preferences/theme", data={"theme": "dark", "next": "/nodes"})
    assert answer.headers["Location"] == "/nodes"
    assert 'data-theme="dark"' in client.get("/nodes").text
    client.post("/sign-out")
    assert 'data-theme="dark"' in client.get("/sign-in").text


def test_older_loads_are_a_link_away(console: Console) -> None:
    now = seed.present()
    console.manager.loads = [
        seed.load(number, LoadState.SUCCEEDED, now, minutes=number, seconds=4.0)
        for number in range(1, 61)
    ]
    client = console.signed_in()
    first = client.get("/loads").text
    older = re.search(r'href="(/loads\?[^"]*cursor=[^"]*)" rel="next"', first)

    assert older
    assert console.manager.loads[49].id in first
    assert console.manager.loads[59].id in client.get(older[1].replace("&amp;", "&")).text


def test_a_stream_begins_with_the_panel_and_ends_with_the_load(console: Console) -> None:
    load = next(load for load in console.manager.loads if load.state is LoadState.VERIFYING)
    client = console.signed_in()
    with client.stream("GET", f"/loads/{load.id}/events") as stream:
        lines = stream.iter_lines()
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        assert next(lines).startswith("id: ")
        console.manager.end(load.id)
        text = "\n".join(lines)

    assert "Succeeded" in text
    assert text.rstrip().endswith("event: ended\ndata: ended")


def test_the_double_counts_as_the_manager_would(console: Console) -> None:
    manager: ConsoleManager = console.manager
    assert sum(manager.overview().devices_by_health.values()) == len(manager.devices)
