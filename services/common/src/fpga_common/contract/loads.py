"""Loads of the REST API."""

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from fpga_common.contract.base import Answer, NodeName, Request, Timestamp
from fpga_common.domain.load import AttemptOutcome, IfBusy, LoadState, Priority
from fpga_common.domain.operation import FailureCode, Phase

LabelKey = Annotated[str, StringConstraints(min_length=1, max_length=317)]
LabelValue = Annotated[str, StringConstraints(max_length=1024)]


class LoadTarget(Request):
    """One region: the node's name and the device's id on it."""

    node: NodeName
    device: str = Field(min_length=1, max_length=253)


class LoadCreate(Request):
    """A request to put one bitstream into one region.

    ``bitstream`` is a name, ``name@version`` or a digest. ``deadline_seconds`` counts from the
    request. ``persist`` makes the AFU the region's desired one.
    """

    bitstream: str = Field(min_length=1, max_length=256)
    target: LoadTarget
    if_busy: IfBusy = IfBusy.WAIT
    priority: Priority = Priority.NORMAL
    deadline_seconds: float = Field(default=3600.0, gt=0, le=7 * 86400)
    persist: bool = True
    force: bool = False
    labels: dict[LabelKey, LabelValue] = Field(default_factory=dict, max_length=32)


class LoadBitstream(Answer):
    """Which bitstream a load is of."""

    digest: str
    name: str
    version: str | None = None
    interface_id: str | None = None
    afu_id: str | None = None


class LoadProgress(Answer):
    """Where the current attempt is; ``percent`` is 0 to 100 and never falls within an attempt."""

    phase: Phase | None = None
    percent: float = 0.0
    message: str = ""


class LoadError(Answer):
    """Why a load failed, or what it is waiting for."""

    code: FailureCode
    message: str
    retryable: bool
    expected: str | None = None
    actual: str | None = None


class LoadAttempt(Answer):
    """One try."""

    number: int
    started_at: Timestamp
    ended_at: Timestamp | None = None
    outcome: AttemptOutcome | None = None
    error: LoadError | None = None


class LoadEvent(Answer):
    """One line of a load's history, oldest first; ``sequence`` rises without gaps."""

    sequence: int
    at: Timestamp
    state: LoadState
    attempt: int
    phase: Phase | None = None
    percent: float | None = None
    message: str
    actor: str


class Load(Answer):
    """A load. ``seconds`` is from the request to the end, None while open."""

    id: str
    state: LoadState
    bitstream: LoadBitstream
    target: LoadTarget
    requested_by: str
    priority: Priority
    if_busy: IfBusy
    persist: bool
    force: bool
    labels: dict[str, str] = Field(default_factory=dict)
    created_at: Timestamp
    started_at: Timestamp | None = None
    finished_at: Timestamp | None = None
    deadline_at: Timestamp
    seconds: float | None = None
    attempt: int = 0
    progress: LoadProgress = Field(default_factory=LoadProgress)
    previous_afu_id: str | None = None
    afu_id: str | None = None
    error: LoadError | None = None
    retry_of: str | None = None


class LoadDetail(Load):
    """A load with everything that happened to it."""

    attempts: list[LoadAttempt] = Field(default_factory=list)
    history: list[LoadEvent] = Field(default_factory=list)


class LoadEventMessage(Answer):
    """Data of one server-sent event of ``/loads/{id}/events``."""

    load: Load
    event: LoadEvent


OpenApiDocument = dict[str, Any]
