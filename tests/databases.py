"""Databases that are asked what SQL makes of samples."""

import atexit
import csv
import io
import json
import math
import os
import shutil
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from functools import cache

import duckdb
import pytest


def ask_sqlite(sql, samples, columns=None, table="data", last=1):
    """Run a query of `export_sql` in SQLite and return the last column, or the last ones."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.create_function("exp", 1, math.exp)  # not in all builds
        return ask(connection, sql, samples, columns, table, last)


def ask_duckdb(sql, samples, columns=None, table="data", last=1):
    """Run a query of `export_sql` in DuckDB and return the last column, or the last ones."""
    return ask(connect_to_duckdb().cursor(), sql, samples, columns, table, last)


@cache
def connect_to_duckdb():
    """Return one database for all tests: starting one takes long."""
    return duckdb.connect(":memory:")


def ask(connection, sql, samples, columns, table, last):
    """Fill a table, run a query and return its last column, or the last ones."""
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
    return [answer[-1] if last == 1 else answer[-last:] for answer in answers]


def ask_postgres(sql, samples, columns=None, table="data", last=1):
    """Run a query of `export_sql` in PostgreSQL and return the last column, or the last ones."""
    columns = columns or [f"x{j}" for j in range(samples.shape[1])]
    declared = ", ".join(
        '"{}" DOUBLE PRECISION'.format(name.replace('"', '""')) for name in columns
    )
    rows = io.StringIO()
    writer = csv.writer(rows, lineterminator="\n")
    for row, values in enumerate(samples.tolist()):
        writer.writerow([row, *("" if math.isnan(value) else repr(value) for value in values)])
    script = f"""
DROP TABLE IF EXISTS "{table}";
CREATE TABLE "{table}" ("row number" INTEGER, {declared});
COPY "{table}" FROM STDIN WITH (FORMAT csv);
{rows.getvalue()}\\.
SELECT json_agg(answers ORDER BY answers."row number") FROM ({sql}) AS answers;
"""
    answers = [list(answer.values()) for answer in json.loads(run_psql(start_postgres(), script))]
    return [answer[-1] if last == 1 else tuple(answer[-last:]) for answer in answers]


def run_psql(folder, script):
    """Run commands in a database whose socket is in a folder."""
    options = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]
    command = ["psql", f"--host={folder}", "--username=postgres", *options]
    done = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def start_postgres():
    """Start a database for all tests, with a socket in its folder; root is not allowed to."""
    user = {"user": "postgres"} if os.name == "posix" and os.getuid() == 0 else {}
    folder = tempfile.mkdtemp(prefix="postgres", dir="/tmp")
    if user:
        shutil.chown(folder, "postgres")
    run = {"check": True, "stdout": subprocess.DEVNULL, "cwd": "/", **user}
    data = f"{folder}/data"
    subprocess.run(["initdb", f"--pgdata={data}", "--username=postgres", "--auth=trust"], **run)
    options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
    start = ["pg_ctl", "start", "--wait", "-D", data, "-o", options, "-l", f"{data}/log"]
    subprocess.run(start, **run)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    stop = ["pg_ctl", "stop", "--mode=immediate", "-D", data]
    atexit.register(subprocess.run, stop, **run)
    return folder


needs_postgres = pytest.mark.skipif(
    any(shutil.which(program) is None for program in ("initdb", "pg_ctl", "psql")),
    reason="no PostgreSQL: install it (apt-get install postgresql), with its programs on the path",
)
with_postgres = pytest.param(ask_postgres, marks=needs_postgres)


databases = pytest.mark.parametrize("ask_database", [ask_sqlite, ask_duckdb])
all_databases = pytest.mark.parametrize("ask_database", [ask_sqlite, ask_duckdb, with_postgres])
