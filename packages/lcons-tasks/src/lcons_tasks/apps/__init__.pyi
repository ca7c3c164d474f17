from ._batch_tagger import TaggerDecoder
from ._candidates import (
    CandidateText,
    entity_spans,
    load_recogniser,
    name_spans,
    read_marks,
    read_places,
)
from ._extraction import CANDIDATES, describe_extraction, extract_lines
from ._extractor import MOST_READ, Extractor, cut, load_extractor
from ._tagger import ConstrainedTagger, chunked, load_constrained_tagger
from ._tagger_folder import check_tagger_folder

__all__ = [
    "CANDIDATES",
    "MOST_READ",
    "CandidateText",
    "ConstrainedTagger",
    "Extractor",
    "TaggerDecoder",
    "check_tagger_folder",
    "chunked",
    "cut",
    "describe_extraction",
    "entity_spans",
    "extract_lines",
    "load_constrained_tagger",
    "load_extractor",
    "load_recogniser",
    "name_spans",
    "read_marks",
    "read_places",
]
