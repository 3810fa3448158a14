"""Presenters as data: documents in, rows out."""

from datetime import UTC, datetime, timedelta

import pytest

from fpga_common.contract.inventory import LinkDocument
from fpga_common.contract.loads import LoadAttempt, LoadDetail
from fpga_common.contract.problem import Problem, ProblemError
from fpga_common.domain.card import RegionState
from fpga_common.domain.health import HealthStatus
from fpga_common.domain.load import AttemptOutcome, LoadState
from fpga_common.domain.operation import Phase
from fpga_web.presenters import bitstreams, device_detail, devices, figures, loads, nodes, overview
from fpga_web.presenters.device_query import DeviceQuery
from fpga_web.presenters.moments import ago, duration, moment
from fpga_web.presenters.problems import of_problem, of_status
from fpga_web.presenters.status import HEALTH, LOAD, REGION, Status
from fpga_web.presenters.timeline import timeline
from support import console_seed as seed
from support.console_manager import ConsoleManager

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
NAMES = figures.afu_names(seed.bitstreams(NOW))


def _ids(query: DeviceQuery) -> list[tuple[str, str]]:
    page = devices.device_page(seed.devices(NOW), query, NAMES, NOW)
    return [(row.node, row.id.removesuffix("-r0")) for row in page.rows]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "just now"),
        (1.9, "just now"),
        (2, "2 s ago"),
        (59, "59 s ago"),
        (60, "1 min ago"),
        (3599, "59 min ago"),
        (7200, "2 h ago"),
        (172799, "47 h ago"),
        (172800, "2 days ago"),
    ],
)
def test_ages_are_in_their_largest_unit(seconds: float, text: str) -> None:
    assert ago(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, ""), (0.34, "0.3 s"), (42, "42 s"), (60, "1 min"), (61, "1 min 1 s"), (3600, "1 h")],
)
def test_durations_have_one_or_two_units(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


def test_a_moment_is_utc_whatever_zone_it_comes_in() -> None:
    local = datetime.fromisoformat("2026-06-01T13:59:00+02:00")
    shown = moment(local, NOW)
    assert shown is not None
    assert shown.iso == "2026-06-01T11:59:00.000Z"
    assert shown.full == "2026-06-01 11:59:00 UTC"
    assert shown.age == "1 min ago"
    assert moment(None, NOW) is None


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (20 * 1024**2, "20.0 MiB"),
        (3 * 1024**3, "3.0 GiB"),
    ],
)
def test_sizes_are_binary(number: int, text: str) -> None:
    assert figures.size(number) == text


@pytest.mark.parametrize(
    ("link", "now", "best", "degraded"),
    [
        (LinkDocument(), "", "", False),
        (LinkDocument(current_speed=8, current_width=8), "8 GT/s ×8", "", False),
        (
            LinkDocument(current_speed=8, max_speed=16, current_width=8, max_width=16),
            "8 GT/s ×8",
            "16 GT/s ×16",
            True,
        ),
        (LinkDocument(current_width=16, max_width=16), "×16", "×16", False),
    ],
)
def test_a_link_is_degraded_only_by_what_is_known(
    link: LinkDocument, now: str, best: str, degraded: bool
) -> None:
    assert (figures.link(link), figures.best_link(link)) == (now, best)
    assert figures.degraded(link) is degraded


def test_every_state_has_a_word_an_icon_and_a_tone() -> None:
    shown: list[Status] = [*HEALTH.values(), *REGION.values(), *LOAD.values()]
    assert set(HEALTH) == set(HealthStatus)
    assert set(REGION) == set(RegionState)
    assert set(LOAD) == set(LoadState)
    assert all(state.word and state.icon and state.meaning for state in shown)


def test_devices_come_worst_first_by_default() -> None:
    assert _ids(DeviceQuery())[:3] == [
        ("fpga-a", "0000:86:00.0"),
        ("fpga-b", "0000:5e:00.0"),
        ("fpga-b", "0000:3b:00.0"),
    ]


@pytest.mark.parametrize(
    ("sort", "first"),
    [
        ("node", ("fpga-a", "0000:3b:00.0")),
        ("-node", ("fpga-b", "0000:3b:00.0")),
        ("-device", ("fpga-b", "0000:af:00.0")),
        ("model", ("fpga-b", "0000:af:00.0")),
        ("holder", ("fpga-a", "0000:3b:00.0")),
        ("temperature", ("fpga-a", "0000:86:00.0")),
        ("state", ("fpga-b", "0000:5e:00.0")),
    ],
)
def test_devices_are_sorted_by_any_column(sort: str, first: tuple[str, str]) -> None:
    assert _ids(DeviceQuery(sort=sort))[0] == first


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 6),
        ("d5005", 1),
        ("N3000 fpga-a", 3),
        ("vision/enc", 1),
        ("sort", 1),
        ("0b2b", 1),
        ("zzz", 0),
    ],
)
def test_text_finds_what_a_line_shows(text: str, number: int) -> None:
    assert len(_ids(DeviceQuery(text=text))) == number


def test_many_devices_are_cut_into_pages_and_a_page_too_far_is_the_last() -> None:
    many = [seed.device("fpga-a", f"{bus:02x}", NOW) for bus in range(250)]
    page = devices.device_page(many, DeviceQuery(page=9), NAMES, NOW)
    assert (page.matching, page.page, page.pages, len(page.rows)) == (250, 3, 3, 50)


def test_a_stale_device_is_unknown_and_shows_no_last_good_value() -> None:
    manager = ConsoleManager()
    manager.silence("fpga-a")
    row = devices.row(manager.devices[0], NAMES, seed.present())
    assert row.health.word == "Unknown"
    assert row.reason == "the node stopped reporting"
    assert row.temperature == ""
    assert row.seen is not None
    assert row.seen.age == "4 min ago"


def test_a_fresh_device_does_not_say_when_it_was_seen() -> None:
    row = devices.row(seed.devices(NOW)[0], NAMES, NOW)
    assert row.seen is None
    assert row.afu == "nlb0@1.4"
    assert row.holder is not None
    assert (row.holder.label, row.holder.title) == ("vision/encoder-7c9d8", "container main")


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({}, DeviceQuery()),
        ({"health": "nonsense", "state": "", "held": "maybe", "sort": "x"}, DeviceQuery()),
        ({"page": "0"}, DeviceQuery()),
        ({"page": "²"}, DeviceQuery()),
        ({"page": "-1"}, DeviceQuery()),
        ({"health": "unknown", "page": "2"}, DeviceQuery(health="unknown", page=2)),
        ({"q": "  a b "}, DeviceQuery(text="a b")),
        ({"held": "no", "sort": "-node"}, DeviceQuery(held="no", sort="-node")),
    ],
)
def test_what_an_address_does_not_say_well_does_not_apply(
    arguments: dict[str, str], query: DeviceQuery
) -> None:
    assert DeviceQuery.parse(arguments) == query


def test_an_address_and_a_query_are_the_same() -> None:
    query = DeviceQuery("a", "unhealthy", "ready", "fpga-a", "yes", "-afu", 3)
    assert DeviceQuery.parse(query.arguments()) == query
    assert query.words() == "text “a”, health unhealthy, state ready, node fpga-a, held yes"
    assert query.without_filters() == DeviceQuery(sort="-afu")
    assert query.manager_filters == {
        "health": "unhealthy",
        "state": "ready",
        "node": "fpga-a",
        "held": True,
    }


def test_asking_for_the_present_order_turns_it_round() -> None:
    query = DeviceQuery(page=4)
    assert query.sorted_by("node").sort == "node"
    assert query.sorted_by("node").sorted_by("node").sort == "-node"
    assert query.sorted_by("node").page == 1


def test_only_bitstreams_of_the_device_s_interface_are_choices() -> None:
    device = seed.devices(NOW)[0]
    offered = bitstreams.choices(seed.bitstreams(NOW), device)
    refused = bitstreams.unfit(seed.bitstreams(NOW), device)
    assert [(choice.label.split(" ")[0], choice.current) for choice in offered] == [
        ("crypto-gcm", False),
        ("nlb0@1.4", True),
        ("sort@2.0", False),
    ]
    assert [(item.label, item.reason) for item in refused] == [
        ("hello-afu", "made for interface 9346116d…, the device has a5d72a3c…")
    ]


def test_nothing_fits_a_device_whose_interface_is_not_known() -> None:
    device = seed.device("fpga-a", "3b", NOW, interface_id=None)
    assert bitstreams.choices(seed.bitstreams(NOW), device) == ()
    assert "not known" in device_detail.why_not_loadable(device)


@pytest.mark.parametrize(
    ("state", "loadable"),
    [
        (RegionState.READY, True),
        (RegionState.RESERVED, True),
        (RegionState.QUARANTINED, True),
        (RegionState.STATIC, False),
        (RegionState.UNUSABLE, False),
        (RegionState.MISSING, False),
    ],
)
def test_a_load_is_offered_where_it_can_succeed(state: RegionState, loadable: bool) -> None:
    device = seed.device("fpga-a", "3b", NOW, state=state)
    assert (device_detail.why_not_loadable(device) == "") is loadable


@pytest.mark.parametrize(
    ("index", "waits", "said"),
    [
        (0, True, "vision/encoder-7c9d8 holds the device. The load waits"),
        (0, False, "vision/encoder-7c9d8 holds the device. The load will fail"),
        (1, True, "Nobody holds the device."),
    ],
)
def test_the_confirmation_names_who_holds_the_device(index: int, waits: bool, said: str) -> None:
    device = seed.devices(NOW)[index]
    shown = device_detail.confirmation(device, seed.bitstreams(NOW)[1], NAMES, NOW, waits=waits)
    assert shown.consequence.startswith(said)
    assert shown.new_afu_id == seed.SORT
    assert shown.same is (index == 1)


def test_the_detail_of_a_device_has_its_reasons_and_facts() -> None:
    shown = device_detail.detail(seed.devices(NOW)[2], NAMES, NOW)
    reason = shown.reasons[0]
    facts = {fact.name: fact.value for fact in (*shown.identity, *shown.sensors, *shown.link)}
    assert (reason.check, reason.status.tone) == ("temperature", "bad")
    assert (reason.observed, reason.expected) == ("101 °C", "at most 95 °C")
    assert facts["Temperature"] == "101.0 °C"
    assert facts["Interface"] == seed.N3000
    assert facts["Now"] == "8 GT/s ×16"


def test_the_overview_counts_worst_first_and_its_bar_is_whole() -> None:
    page = overview.overview_page(ConsoleManager().overview(), NOW)
    assert [(count.status.value, count.number) for count in page.health] == [
        ("unhealthy", 2),
        ("unknown", 0),
        ("warning", 1),
        ("healthy", 3),
    ]
    assert (page.devices, page.held, page.free, page.open_loads, page.failed_loads) == (
        6,
        1,
        5,
        5,
        1,
    )
    assert sum(part.width for part in page.health_bar) == pytest.approx(1000, abs=1)


def test_a_rare_state_is_still_seen_in_the_bar_and_an_empty_bar_is_empty() -> None:
    counts = [
        overview.Count(HEALTH[HealthStatus.UNHEALTHY], 1, "health"),
        overview.Count(HEALTH[HealthStatus.HEALTHY], 39_999, "health"),
    ]
    assert overview.bar(counts)[0].width > 10
    assert overview.bar([]) == ()


def test_attention_lists_each_device_once_and_the_worst_first() -> None:
    found = seed.devices(NOW)
    shown = overview.attention([*found, *found], NAMES, NOW)
    assert len(shown) == 6
    assert shown[0].health.value == "unhealthy"


def test_counts_of_a_silent_node_are_not_known() -> None:
    fresh, silent = seed.node("b", NOW), seed.node("z", NOW, stale=True)
    rows = nodes.rows([fresh, silent], NOW)
    assert [row.name for row in rows] == ["z", "b"]
    assert rows[0].healthy is None
    assert rows[0].status.tone == "unknown"
    assert rows[1].pools[0].counts == "2/3"


def test_an_open_load_counts_its_seconds_and_an_ended_one_stands_still() -> None:
    running = seed.load(
        7, LoadState.PROGRAMMING, NOW, minutes=1, percent=42.4, phase=Phase.PROGRAMMING
    )
    ended = seed.load(3, LoadState.SUCCEEDED, NOW, minutes=95, seconds=4.1)
    assert loads.row(running, NOW).seconds == "1 min 3 s"
    assert loads.row(running, NOW).percent == 42
    assert loads.row(ended, NOW).seconds == "4.1 s"
    assert loads.row(ended, NOW).percent is None


@pytest.mark.parametrize("state", list(LoadState))
def test_what_can_be_done_with_a_load_follows_from_its_state(state: LoadState) -> None:
    load = seed.load(1, state, NOW, minutes=1)
    repeatable = state in (LoadState.FAILED, LoadState.CANCELLED, LoadState.EXPIRED)
    assert loads.may_retry(load) is repeatable
    assert loads.may_cancel(load) is (not state.ended and state is not LoadState.CANCELLING)


def test_attempts_and_history_come_newest_first() -> None:
    load = seed.load(3, LoadState.SUCCEEDED, NOW, minutes=95, seconds=4.1)
    first, second = (
        LoadAttempt(number=number, started_at=NOW - timedelta(seconds=9), ended_at=NOW, outcome=out)
        for number, out in ((1, AttemptOutcome.LOST), (2, AttemptOutcome.OK))
    )
    assert [item.outcome for item in loads.attempts([first, second], NOW)] == ["ok", "lost"]
    assert loads.history(load, NOW)[0].status.value == "succeeded"


def _states(load: LoadDetail) -> list[str]:
    return [f"{step.word}:{step.state}" for step in timeline(load, NOW)]


def test_the_timeline_of_a_running_load_has_one_current_step() -> None:
    load = seed.load(
        7, LoadState.PROGRAMMING, NOW, minutes=1, percent=42.0, phase=Phase.PROGRAMMING
    )
    assert _states(load) == [
        "Queued:done",
        "Fetching:done",
        "Checking:done",
        "Draining:done",
        "Programming:current",
        "Verifying:pending",
        "Done:pending",
    ]


def test_the_timeline_of_a_failed_load_stops_where_it_failed() -> None:
    load = seed.load(4, LoadState.FAILED, NOW, minutes=18, seconds=7.4)
    assert _states(load)[-2:] == ["Verifying:stopped", "Failed:stopped"]


@pytest.mark.parametrize(
    ("state", "first", "last"),
    [
        (LoadState.QUEUED, "Queued:current", "Done:pending"),
        (LoadState.WAITING, "Waiting:current", "Done:pending"),
        (LoadState.CANCELLED, "Queued:stopped", "Cancelled:stopped"),
        (LoadState.SUCCEEDED, "Queued:done", "Succeeded:done"),
    ],
)
def test_the_timeline_of_a_load_that_no_node_has_seen(
    state: LoadState, first: str, last: str
) -> None:
    shown = _states(seed.load(1, state, NOW, minutes=1))
    assert (shown[0], shown[-1]) == (first, last)


def test_a_load_that_is_tried_again_begins_its_timeline_anew() -> None:
    load = seed.load(7, LoadState.PROGRAMMING, NOW, minutes=1, phase=Phase.PROGRAMMING)
    load.attempt = 2
    load.progress.phase = Phase.FETCHING
    assert _states(load)[1:3] == ["Fetching:current", "Checking:pending"]


def test_the_history_leaves_out_what_only_repeats() -> None:
    load = seed.load(3, LoadState.SUCCEEDED, NOW, minutes=95, seconds=4.1)
    told = [line.sequence for line in loads.history(load, NOW)]
    first, *later = load.history
    load.history = [first, first.model_copy(update={"percent": 50.0}), *later]
    assert [line.sequence for line in loads.history(load, NOW)] == told


def test_a_name_at_the_beginning_of_a_sentence_keeps_its_letters() -> None:
    assert figures.sentence("sim-a has no device 'x'") == "sim-a has no device 'x'"
    assert figures.sentence("0000:5e:00.0-r0 is held") == "0000:5e:00.0-r0 is held"
    assert figures.sentence("magic: not a GBS") == "Magic: not a GBS"


def test_an_afu_that_several_bitstreams_hold_has_only_the_name_that_they_share() -> None:
    older, newer, other = (
        seed.bitstream(number, name, seed.N3000, seed.NLB0, NOW, version=version)
        for number, name, version in ((1, "nlb0", "1.3"), (2, "nlb0", "1.4"), (3, "copy", None))
    )
    assert figures.afu_names([newer]) == {seed.NLB0: "nlb0@1.4"}
    assert figures.afu_names([older, newer]) == {seed.NLB0: "nlb0"}
    assert figures.afu_names([older, newer, other]) == {}


def test_further_names_of_a_content_are_told() -> None:
    item = seed.bitstream(1, "nlb0", seed.N3000, seed.NLB0, NOW, version="1.4")
    item.references = ["loopback", "nlb0", "nlb0@1.4"]
    assert bitstreams.rows([item], NOW)[0].also == ("loopback",)


@pytest.mark.parametrize(
    ("source", "label"), [("journal", "a pod"), ("open", "a process outside Kubernetes")]
)
def test_a_holder_without_a_name_is_told_in_words(source: str, label: str) -> None:
    device = seed.devices(NOW)[0]
    assert device.holder is not None
    device.holder = device.holder.model_copy(update={"pod": None, "source": source})
    shown = devices.holder(device.holder, NOW)
    assert shown is not None
    assert shown.label == label
    confirmed = device_detail.confirmation(device, seed.bitstreams(NOW)[1], NAMES, NOW, waits=True)
    assert confirmed.consequence.startswith(figures.sentence(label))


def test_a_problem_becomes_lines_with_expected_and_actual() -> None:
    problem = Problem(
        type="/problems/x",
        title="X",
        status=422,
        detail="d",
        code="x",
        errors=[ProblemError(detail="bad", field="magic", expected="a", actual="b")],
    )
    line = of_problem(problem).lines[0]
    assert (line.field, line.expected, line.actual) == ("magic", "a", "b")


def test_every_status_has_words() -> None:
    assert all(of_status(status).title for status in range(400, 600))
