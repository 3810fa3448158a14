"""Counts of the whole cluster, and what the manager can reach. Called by the API and metrics."""

from collections.abc import Callable
from datetime import datetime

from redis.exceptions import RedisError
from sqlalchemy import ColumnElement, String, case, func, select, type_coerce
from sqlalchemy.orm import Session

from fpga_bitstream_manager import __version__
from fpga_bitstream_manager.failures import Unavailable
from fpga_bitstream_manager.ledger import DeviceRow, HolderRow
from fpga_bitstream_manager.ledger.loads import LeaseRow, LoadRow
from fpga_bitstream_manager.ledger.migration import newest_revision, require_current
from fpga_bitstream_manager.loads.documents import load_document
from fpga_bitstream_manager.nodes.freshness import Freshness
from fpga_bitstream_manager.nodes.heartbeats import Heartbeats
from fpga_bitstream_manager.services import Services
from fpga_common.contract.loads import Load
from fpga_common.contract.system import ComponentState, Overview, System
from fpga_common.domain.card import RegionState
from fpga_common.domain.errors import FpgaError
from fpga_common.domain.health import HealthStatus

RECENT_LOADS = 10


def overview(session: Session, heartbeats: Heartbeats, now: datetime) -> Overview:
    """Counts for a first glance; what a stale node said of health counts as unknown."""
    fresh = Freshness.of_all(session, heartbeats, now)
    by_health = devices_by_health(session, fresh)
    return Overview(
        generated_at=now,
        nodes=len(fresh.last_seen),
        nodes_stale=len(fresh.stale),
        cards=_cards(session),
        devices=sum(by_health.values()),
        devices_by_health=by_health,
        devices_by_state=_count_by(session, type_coerce(DeviceRow.state, String)),
        devices_held=_held(session),
        devices_drifted=_drifted(session),
        loads_by_state=_count_by(session, type_coerce(LoadRow.state, String)),
        recent_loads=_recent_loads(session),
    )


def devices_by_health(session: Session, fresh: Freshness) -> dict[str, int]:
    """How many devices show each health."""
    shown = case(
        (DeviceRow.node.in_(fresh.stale), HealthStatus.UNKNOWN.value), else_=DeviceRow.health
    )
    counted = _count_by(session, shown)
    return {status.value: counted.get(status.value, 0) for status in HealthStatus}


def system(services: Services) -> System:
    """Versions and what is reachable."""
    checks: dict[str, Callable[[Services], str]] = {
        "ledger": _check_ledger,
        "redis": _check_redis,
        "store": _check_store,
        "reconciler": _check_reconciler,
    }
    states = [_state(name, check, services) for name, check in checks.items()]
    return System(version=__version__, components=states)


def _state(name: str, check: Callable[[Services], str], services: Services) -> ComponentState:
    try:
        return ComponentState(name=name, ok=True, detail=check(services))
    except FpgaError as error:
        return ComponentState(name=name, ok=False, detail=error.message)
    except RedisError as error:
        words = f"{error}; loads are queued by the reconciler, heartbeats go to the ledger"
        return ComponentState(name=name, ok=False, detail=words)


def _check_ledger(services: Services) -> str:
    require_current(services.ledger)
    return f"{services.ledger.url.get_backend_name()}, revision {newest_revision()}"


def _check_redis(services: Services) -> str:
    services.redis.ping()
    return "answers"


def _check_store(services: Services) -> str:
    services.blobs.check()
    return "can be written"


def _check_reconciler(services: Services) -> str:
    with services.ledger.reading() as session:
        alive = LeaseRow.until > services.clock()
        lease = session.scalars(select(LeaseRow).where(alive).limit(1)).first()
    if lease is None:
        raise Unavailable("no reconciler acts: what is lost stays lost, nodes never turn stale")
    return f"{lease.holder} acts"


def _count_by(session: Session, column: ColumnElement[str]) -> dict[str, int]:
    rows = session.execute(select(column, func.count()).group_by(column))
    return dict(sorted((row[0], row[1]) for row in rows))


def _cards(session: Session) -> int:
    present = DeviceRow.state != RegionState.MISSING
    cards = select(DeviceRow.node, DeviceRow.card).where(present).distinct().subquery()
    return session.scalar(select(func.count()).select_from(cards)) or 0


def _held(session: Session) -> int:
    held = select(HolderRow.node, HolderRow.device).distinct().subquery()
    return session.scalar(select(func.count()).select_from(held)) or 0


def _drifted(session: Session) -> int:
    drifted = DeviceRow.afu_id != DeviceRow.desired_afu_id
    return session.scalar(select(func.count()).select_from(DeviceRow).where(drifted)) or 0


def _recent_loads(session: Session) -> list[Load]:
    query = select(LoadRow).order_by(LoadRow.id.desc()).limit(RECENT_LOADS)
    return [load_document(row) for row in session.scalars(query)]
