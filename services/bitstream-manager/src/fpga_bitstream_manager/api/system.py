"""``/overview`` and ``/system``."""

from apiflask import APIBlueprint

from fpga_bitstream_manager import overview
from fpga_bitstream_manager.api.context import services
from fpga_bitstream_manager.api.guard import requires
from fpga_common.contract.access import Role
from fpga_common.contract.system import Overview, System

blueprint = APIBlueprint("system", __name__, tag="System", url_prefix="/api/v1")


@blueprint.get("/overview")
@requires(Role.VIEWER)
@blueprint.output(Overview)
def get_overview() -> Overview:
    """Counts for a first glance."""
    own = services()
    with own.ledger.reading() as session:
        return overview.overview(session, own.heartbeats, own.clock())


@blueprint.get("/system")
@requires(Role.VIEWER)
@blueprint.output(System)
def get_system() -> System:
    """Versions and what is reachable."""
    return overview.system(services())
