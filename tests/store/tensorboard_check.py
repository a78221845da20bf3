#!/usr/bin/python3
"""tensorboard_check.py RUN_DIRECTORY: what TensorBoard reads in tensorboard/ is what metrics.csv holds.

A reader of its own, of the formats as TensorFlow documents them. Prints the number of files and of rows.
"""
import csv
import pathlib
import struct
import sys
import time


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    while data:
        length, length_sum = struct.unpack_from("<QI", data)
        assert masked(data[:8]) == length_sum, "checksum of a length"
        record, (record_sum,) = data[12 : 12 + length], struct.unpack_from("<I", data, 12 + length)
        assert masked(record) == record_sum, "checksum of a record"
        yield record
        data = data[16 + length :]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """Fields of a Protocol Buffers message: (number, value)."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            (value,), at = struct.unpack_from("<d", data, at), at + 8
        elif key & 7 == 5:
            (value,), at = struct.unpack_from("<f", data, at), at + 4
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        yield key >> 3, value


def shown(files):
    """(tag, step) -> value, as TensorBoard shows files of one folder: a start drops its step and later ones."""
    scalars, last_time = {}, 0
    for file in files:
        for place, record in enumerate(records(file.read_bytes())):
            event = dict(fields(record))
            step = event.get(2, 0)
            assert last_time <= event[1] <= time.time() + 1, f"{file}: wall time {event[1]}"
            last_time = event[1]
            if place == 0:
                assert event[3] == b"brain.Event:2", event
            elif 7 in event:
                assert place == 1 and dict(fields(event[7])) == {1: 1}, event
                scalars = {key: value for key, value in scalars.items() if key[1] < step}
            else:
                for _, scalar in fields(event[5]):
                    parts = dict(fields(scalar))
                    key = (parts[1].decode(), step)
                    assert key not in scalars, f"{file}: {key} twice"
                    scalars[key] = parts[2]
    return scalars


def written(metrics):
    """The same of metrics.csv, and the number of its rows."""
    charts = {"epsilon": "privacy", "consensus_distance": "models"}
    scalars, rows = {}, 0
    for row in csv.DictReader(metrics.open()):
        rows += 1
        stage = "" if row["models"] == "last" else "_" + row["models"]
        for name, text in row.items():
            if text and name not in ("round", "models", "test_records", "train_records"):
                words = [word for word in ("accuracy", "seconds") if word in name]
                chart = charts.get(name, words[0] if words else "loss")
                scalars[f"{chart}/{name}{stage}", int(row["round"])] = float(text)
    return scalars, rows


run = pathlib.Path(sys.argv[1])
files = sorted((run / "tensorboard").iterdir())
events, (expected, rows) = shown(files), written(run / "metrics.csv")
assert crc32c(b"123456789") == 0xE3069283
assert events.keys() == expected.keys(), events.keys() ^ expected.keys()
for key, value in expected.items():
    # Events are single precision.
    assert abs(events[key] - value) <= 1e-6 * abs(value) + 1e-37, (key, events[key], value)
print(f"{len(files)} files, {rows} rows")
