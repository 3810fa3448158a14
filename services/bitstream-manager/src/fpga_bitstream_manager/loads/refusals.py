"""Why a load is refused before it begins. ``/problems/<code>`` shows the docstrings."""

from fpga_bitstream_manager.failures import Conflict, NotFound


class UnknownLoad(NotFound):
    """There is no load with this id. Ended loads are kept; check the id."""

    code = "unknown_load"


class InterfaceMismatch(Conflict):
    """The bitstream was built for another region. Take one whose interface id is the region's."""

    code = "interface_mismatch"


class RegionStatic(Conflict):
    """The region takes no bitstream: its function is part of the card's own image."""

    code = "region_static"


class RegionHeld(Conflict):
    """Somebody holds the region, and the request says not to wait (``if_busy`` is ``fail``).

    Ask again with ``if_busy`` set to ``wait``, or end the holder first.
    """

    code = "region_held"


class LoadEnded(Conflict):
    """The load has ended, so there is nothing to cancel."""

    code = "load_ended"


class LoadOpen(Conflict):
    """The load has not ended, so there is nothing to retry. Cancel it first, or wait."""

    code = "load_open"
