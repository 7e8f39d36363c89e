"""Sentences in Apache Arrow tables and Parquet files, and a parser of such tables."""

from typing import TYPE_CHECKING

from arborescence.system.lazy import lazily

if TYPE_CHECKING:
    from arborescence.integrations.arrow.parse import Parse as Parse
    from arborescence.integrations.arrow.tables import read as read
    from arborescence.integrations.arrow.tables import read_tables as read_tables
    from arborescence.integrations.arrow.tables import schema as schema
    from arborescence.integrations.arrow.tables import schema_of as schema_of
    from arborescence.integrations.arrow.tables import to_sentences as to_sentences
    from arborescence.integrations.arrow.tables import to_table as to_table
    from arborescence.integrations.arrow.tables import write as write
    from arborescence.integrations.arrow.tables import write_tables as write_tables

__all__, __getattr__, __dir__ = lazily(__name__)
