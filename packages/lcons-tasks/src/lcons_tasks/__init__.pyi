from .apps import ConstrainedTagger, Extractor, load_constrained_tagger, load_extractor
from .atomic import replacing
from .data import Sentence, read_columns
from .diagnosis import Choice, Diagnosis, choose, diagnose
from .fitted import ConstrainedTaggerCV, FitSettings, FittedTagger, fit
from .models import LinearSettings, load_tagger, train_bilstm, train_chain_svm, train_linear
from .own_data import Learned, learn, read_data
from .stats import Interval, LabelTally, chunk_f1, paired_bootstrap

__version__: str

__all__ = [
    "Choice",
    "ConstrainedTagger",
    "ConstrainedTaggerCV",
    "Diagnosis",
    "Extractor",
    "FitSettings",
    "FittedTagger",
    "Interval",
    "LabelTally",
    "Learned",
    "LinearSettings",
    "Sentence",
    "__version__",
    "choose",
    "chunk_f1",
    "diagnose",
    "fit",
    "learn",
    "load_constrained_tagger",
    "load_extractor",
    "load_tagger",
    "paired_bootstrap",
    "read_columns",
    "read_data",
    "replacing",
    "train_bilstm",
    "train_chain_svm",
    "train_linear",
]
