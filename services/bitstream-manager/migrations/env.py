"""Run by Alembic inside ``fpga_bitstream_manager.ledger.migration.migrate``, on its connection."""

from alembic import context

from fpga_bitstream_manager.ledger import Row

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Row.metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
