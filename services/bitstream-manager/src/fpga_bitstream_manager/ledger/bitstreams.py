"""Tables of stored bitstreams and of the names that point to them."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from fpga_bitstream_manager.ledger.base import Document, Row


class BitstreamRow(Row):
    """One stored file. ``name`` and ``version`` are those it was last uploaded under."""

    __tablename__ = "bitstreams"
    __table_args__ = (Index(None, "uploaded_at", "digest"),)

    digest: Mapped[str] = mapped_column(String(71), primary_key=True)
    name: Mapped[str] = mapped_column(String(128), index=True)
    version: Mapped[str | None] = mapped_column(String(64))
    format: Mapped[str] = mapped_column(String(16))
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    payload_offset: Mapped[int] = mapped_column(BigInteger)
    payload_size_bytes: Mapped[int] = mapped_column(BigInteger)
    interface_id: Mapped[str | None] = mapped_column(String(32), index=True)
    afu_id: Mapped[str | None] = mapped_column(String(32), index=True)
    afu_name: Mapped[str | None] = mapped_column(String(255))
    clocks_mhz: Mapped[dict[str, str]]
    checks: Mapped[list[Document]]
    uploaded_by: Mapped[str] = mapped_column(String(253))
    uploaded_at: Mapped[datetime]


class BitstreamNameRow(Row):
    """``name`` or ``name@version`` → digest; without a version, ``version`` is empty.

    A version never moves. A bare name follows the last upload under it.
    """

    __tablename__ = "bitstream_names"

    name: Mapped[str] = mapped_column(String(128), primary_key=True)
    version: Mapped[str] = mapped_column(String(64), primary_key=True)
    digest: Mapped[str] = mapped_column(
        ForeignKey("bitstreams.digest", ondelete="CASCADE"), index=True
    )
    pointed_at: Mapped[datetime]
