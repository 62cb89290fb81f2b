"""Databases that are asked what SQL makes of samples."""

import math
import sqlite3
from contextlib import closing
from functools import cache

import duckdb
import pytest


def ask_sqlite(sql, samples, columns=None, table="data"):
    """Run a query of `export_sql` in SQLite and return the last column."""
    with closing(sqlite3.connect(":memory:")) as connection:
        return ask(connection, sql, samples, columns, table)


def ask_duckdb(sql, samples, columns=None, table="data"):
    """Run a query of `export_sql` in DuckDB and return the last column."""
    return ask(connect_to_duckdb().cursor(), sql, samples, columns, table)


@cache
def connect_to_duckdb():
    """Return one database for all tests: starting one takes long."""
    return duckdb.connect(":memory:")


def ask(connection, sql, samples, columns, table):
    """Fill a table, run a query and return its last column."""
    columns = columns or [f"x{j}" for j in range(samples.shape[1])]
    quoted = [name.replace('"', '""') for name in columns]
    declared = ", ".join(f'"{name}" DOUBLE' for name in quoted)
    connection.execute(f'DROP TABLE IF EXISTS "{table}"')
    connection.execute(f'CREATE TABLE "{table}" ("row number" INTEGER, {declared})')
    rows = [
        (row, *(None if math.isnan(value) else value for value in values))
        for row, values in enumerate(samples.tolist())
    ]
    marks = ", ".join(["(" + ", ".join("?" * len(rows[0])) + ")"] * len(rows))
    values = [value for row in rows for value in row]
    connection.execute(f'INSERT INTO "{table}" VALUES {marks}', values)
    answers = sorted(connection.execute(sql).fetchall(), key=lambda answer: answer[0])
    connection.close()
    return [answer[-1] for answer in answers]


databases = pytest.mark.parametrize("ask_database", [ask_sqlite, ask_duckdb])
