"""The Celery application: names, broker, and the settings that make a lost message harmless.

Messages carry a load's id and nothing else; the ledger is the only result. Used by the worker, and
by everybody who dispatches.
"""

from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

from celery import Celery

from fpga_bitstream_manager.settings import ManagerSettings

QUEUE: Final = "fpga-loads"
RUN_LOAD: Final = "fpga.run_load"
CANCEL_LOAD: Final = "fpga.cancel_load"

#: A message that was taken and not acknowledged comes again after this: longer than the longest
#: load may take (7 days) with room, since the reconciler, not the broker, brings back what is lost.
VISIBILITY_SECONDS: Final = 8 * 86400


def sending_app(settings: ManagerSettings) -> Celery:
    """An application that only sends, and gives up on a Redis that takes no message in time.

    A worker's own connection has no such limit: it waits for messages that may never come. Raises
    InvalidConfiguration.
    """
    app = make_app(settings)
    app.conf.broker_transport_options["socket_timeout"] = settings.redis.timeout_seconds
    return app


def make_app(settings: ManagerSettings) -> Celery:
    """An application that connects when it is first used. Raises InvalidConfiguration."""
    app = Celery("fpga-bitstream-manager", set_as_current=False)
    timeout = settings.redis.timeout_seconds
    app.conf.update(
        broker_url=broker_url(settings),
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_connection_timeout=timeout,
        broker_transport_options={
            "visibility_timeout": VISIBILITY_SECONDS,
            "socket_connect_timeout": timeout,
            "socket_keepalive": True,
            "max_retries": 0,
        },
        task_default_queue=QUEUE,
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_store_errors_even_if_ignored=False,
        worker_prefetch_multiplier=1,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_send_task_events=False,
        worker_enable_remote_control=False,
        worker_proc_alive_timeout=30.0,
        task_send_sent_event=False,
        enable_utc=True,
        timezone="UTC",
    )
    return app


def broker_url(settings: ManagerSettings) -> str:
    """The broker's URL with the password from its file; never to be logged."""
    password = settings.redis.password()
    url = settings.redis.url
    if not password:
        return url
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    user = parts.username or ""
    return urlunsplit(parts._replace(netloc=f"{user}:{quote(password, safe='')}@{host}"))
