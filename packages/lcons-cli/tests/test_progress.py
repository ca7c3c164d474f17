"""What long work says: a line once that is worth it, and none where it is done already."""

import pytest

from lcons_cli import progress as waiting


@pytest.fixture
def said(monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    return []


def test_work_that_goes_on_says_how_far_it_is_once(said):
    with waiting.waiting("counting", said.append) as progress:
        for done in (1, 2, 3):
            progress(done, 4)
    assert len(said) == 1
    assert said[0].startswith("counting: 25% done, ")


def test_work_that_is_done_says_nothing(said):
    with waiting.waiting("counting", said.append) as progress:
        progress(4, 4)
    assert said == []
