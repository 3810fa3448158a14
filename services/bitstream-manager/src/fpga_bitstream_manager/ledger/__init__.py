"""The ledger: everything that must survive, in SQLite or PostgreSQL through SQLAlchemy.

``Ledger`` opens it; each module beside holds the tables of one subject. Knows no service.
"""

from fpga_bitstream_manager.ledger.access import AuditRow, IdempotencyRow, SessionRow, TokenRow
from fpga_bitstream_manager.ledger.base import Document, Row, UtcDateTime
from fpga_bitstream_manager.ledger.bitstreams import BitstreamNameRow, BitstreamRow
from fpga_bitstream_manager.ledger.cluster import NodeEventRow, ToldConditionRow
from fpga_bitstream_manager.ledger.engine import Ledger, LedgerUnavailable, after_commit
from fpga_bitstream_manager.ledger.nodes import DeviceRow, HolderRow, NodeRow

__all__ = [
    "AuditRow",
    "BitstreamNameRow",
    "BitstreamRow",
    "DeviceRow",
    "Document",
    "HolderRow",
    "IdempotencyRow",
    "Ledger",
    "LedgerUnavailable",
    "NodeEventRow",
    "NodeRow",
    "Row",
    "SessionRow",
    "TokenRow",
    "ToldConditionRow",
    "UtcDateTime",
    "after_commit",
]
