"""The Python SDK's client of Azure Tables, as a process that says how much CPU time it took.

A request is a line of JSON: an operation, and the rows that it is to be done with. The answer is a line
with the CPU seconds of one call, without the time to read the request.
"""

import base64
import json
import os
import sys
import time

from azure.data.tables import TableClient

TRANSACTION = 100


def rows_of(request):
    """The rows as an application has them: binary values are bytes."""
    rows = request["rows"]
    for row in rows:
        if "Photo" in row:
            row["Photo"] = base64.b64decode(row["Photo"])
    return rows


def prepare(table, request):
    """Each call of a request, ready to be made."""
    rows = rows_of(request)
    operation = request["operation"]
    if operation == "insert":
        return [lambda row=row: table.create_entity(row) for row in rows]
    if operation == "get":
        return [lambda row=row: table.get_entity(row["PartitionKey"], row["RowKey"]) for row in rows]
    if operation == "transact":
        batches = [rows[start : start + TRANSACTION] for start in range(0, len(rows), TRANSACTION)]
        return [lambda batch=batch: table.submit_transaction([("create", row) for row in batch]) for batch in batches]
    raise ValueError(f"there is no operation {operation}")


def main():
    connection = os.environ["TABLE_PATTERNS_AZURITE"]
    for line in sys.stdin:
        request = json.loads(line)
        with TableClient.from_connection_string(connection, request["table"]) as table:
            # The first call of a client opens its connection, which an application does once.
            next(table.query_entities("PartitionKey eq ''"), None)
            calls = prepare(table, request)
            start = time.process_time()
            for call in calls:
                call()
            print((time.process_time() - start) / len(calls), flush=True)


main()
