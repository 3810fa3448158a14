"""From a bearer token to a principal. Called by the API for every request."""

from datetime import timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from fpga_bitstream_manager.access.nodes import FolderNodeTokens, NodeTokens, NoNodeTokens
from fpga_bitstream_manager.access.principal import Principal, Source
from fpga_bitstream_manager.access.secrets import SecretFile, hash_of, same
from fpga_bitstream_manager.clock import Clock
from fpga_bitstream_manager.failures import NotSignedIn
from fpga_bitstream_manager.ledger import Ledger, LedgerUnavailable, SessionRow, TokenRow
from fpga_bitstream_manager.settings import AccessSettings
from fpga_common.contract.access import Role
from fpga_common.observability.logging import get_logger

log = get_logger(__name__)

ADMIN: Final = "admin"
USE_RECORDED_EVERY: Final = timedelta(minutes=1)


class Authenticator:
    """Knows callers by their tokens."""

    def __init__(
        self, settings: AccessSettings, ledger: Ledger, clock: Clock, nodes: NodeTokens
    ) -> None:
        self._ledger = ledger
        self._clock = clock
        self._nodes = nodes
        path = settings.admin_token_file
        self._admin = SecretFile(Path(path)) if path else None

    def user(self, token: str) -> Principal:
        """The person or program behind a token or session.

        Raises:
            NotSignedIn: the token is unknown or has ended.
            LedgerUnavailable: nobody can be looked up now; the admin's token works nevertheless.
        """
        secret = hash_of(token)
        admin = self._admin_principal(secret)
        if admin is not None:
            return admin
        with self._ledger.reading() as session:
            row = self._token_row(session, secret)
            found = self._of_token(row) if row else self._of_session(session, secret)
        if found is None:
            raise NotSignedIn("the token or session is unknown or has ended")
        if row is not None:
            self._record_use(row)
        return found

    def node(self, token: str) -> Principal | None:
        """The node behind a token, None for any other token."""
        name = self._nodes.node_of(token)
        return Principal(name, Source.NODE, None, hash_of(token)) if name else None

    def _admin_principal(self, secret: str) -> Principal | None:
        known = self._admin.hash() if self._admin else None
        if known is None or not same(known, secret):
            return None
        return Principal(ADMIN, Source.ADMIN_FILE, Role.ADMIN, secret)

    def _token_row(self, session: Session, secret: str) -> TokenRow | None:
        row = session.scalars(select(TokenRow).where(TokenRow.secret_hash == secret)).one_or_none()
        ended = row is not None and row.expires_at is not None and row.expires_at <= self._clock()
        return None if ended else row

    def _of_token(self, row: TokenRow) -> Principal:
        return Principal(row.name, Source.TOKEN, Role(row.role), row.secret_hash)

    def _of_session(self, session: Session, secret: str) -> Principal | None:
        row = session.get(SessionRow, secret)
        if row is None or row.expires_at <= self._clock():
            return None
        alive = self._admin_principal(row.credential_hash) or self._token_row(
            session, row.credential_hash
        )
        if alive is None:
            return None
        return Principal(row.name, Source.SESSION, Role(row.role), row.credential_hash)

    def _record_use(self, row: TokenRow) -> None:
        now = self._clock()
        if row.last_used_at is not None and now - row.last_used_at < USE_RECORDED_EVERY:
            return
        try:
            with self._ledger.transaction() as session:
                session.execute(
                    update(TokenRow).where(TokenRow.name == row.name).values(last_used_at=now)
                )
        except LedgerUnavailable as error:
            log.warning("token_use_not_recorded", token_name=row.name, reason=error.message)


def node_tokens(settings: AccessSettings) -> NodeTokens:
    """Node tokens of a machine without Kubernetes."""
    folder = settings.node_tokens_dir
    return FolderNodeTokens(Path(folder)) if folder else NoNodeTokens()
