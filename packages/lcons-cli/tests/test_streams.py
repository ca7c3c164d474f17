"""Input that is read as it comes: when it waits, and text as it is."""

import io
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcons_cli.streams import Arriving, Text, arriving, waits_of


@pytest.fixture
def pipe():
    read, write = os.pipe()
    yield Arriving(read), write
    os.close(read)


def test_a_stream_waits_where_no_whole_line_is_there(pipe):
    source, write = pipe
    assert source.waits()
    os.write(write, b"one\ntwo\nthr")
    assert not source.waits()
    assert next(source) == b"one\n"
    assert not source.waits()
    assert next(source) == b"two\n"
    assert source.waits()
    os.write(write, b"ee\n")
    assert not source.waits()
    assert next(source) == b"three\n"
    os.close(write)
    assert not source.waits()
    assert list(source) == []


def test_a_line_longer_than_the_buffer_is_whole(pipe):
    source, write = pipe
    os.write(write, b"a" * 60_000)
    assert not source.waits()
    source.peek()
    assert source.waits()
    os.write(write, b"b\n")
    assert next(source) == b"a" * 60_000 + b"b\n"
    assert source.waits()
    os.close(write)


def test_blocks_of_text_do_not_wait_for_more(pipe):
    source, write = pipe
    os.write(write, "é".encode()[:1])
    os.write(write, "é".encode()[1:] + b" one")
    text = Text(source)
    assert text.read(100) == "é one"
    assert text.waits()
    os.write(write, b" two\n")
    assert text.read(100) == " two\n"
    os.close(write)
    assert text.read(100) == ""


@given(st.binary(), st.booleans())
def test_text_is_what_python_reads(content, marked):
    data = b"\xef\xbb\xbf" * marked + content
    with io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", "surrogateescape", newline="\n") as wrapped:
        expected = wrapped.readlines()
    assert list(Text(io.BytesIO(data))) == expected
    blocks = Text(io.BytesIO(data))
    assert "".join(iter(lambda: blocks.read(3), "")) == "".join(expected)


def test_what_has_no_descriptor_never_waits():
    stream = io.BytesIO(b"one\n")
    assert arriving(stream) is stream
    assert not waits_of(stream)()
