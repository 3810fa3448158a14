"""``/events``: the audit log."""

from typing import Final

from apiflask import APIBlueprint
from pydantic import TypeAdapter

from fpga_bitstream_manager.access.audit import list_events
from fpga_bitstream_manager.api.context import services
from fpga_bitstream_manager.api.guard import requires
from fpga_bitstream_manager.api.pagination import KeyNumber, PageQuery
from fpga_common.contract.access import AuditEvent, Role
from fpga_common.contract.base import Page

blueprint = APIBlueprint("audit", __name__, tag="Audit", url_prefix="/api/v1")

EVENT_KEY: Final = TypeAdapter(tuple[KeyNumber])


class EventsQuery(PageQuery):
    """Filters of the audit log."""

    actor: str | None = None
    action: str | None = None


@blueprint.get("/events")
@requires(Role.ADMIN)
@blueprint.input(EventsQuery, location="query")
@blueprint.output(Page[AuditEvent])
def get_events(query_data: EventsQuery) -> Page[AuditEvent]:
    """Changes and refusals, newest first."""
    before = query_data.after(EVENT_KEY)
    with services().ledger.reading() as session:
        found = list_events(
            session,
            actor=query_data.actor,
            action=query_data.action,
            before=before[0] if before else None,
            limit=query_data.limit + 1,
        )
    return query_data.page(found, lambda event: [event.id])
