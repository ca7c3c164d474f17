from ._bilstm_crf import BilstmCrf
from ._chain_svm import train_chain_svm
from ._clusters import Clusters, cluster_words, form
from ._coded_text import CodedText
from ._consistent_chain import CodedKeys, ConsistentChain, consistent, consistent_over
from ._crf_trainer import BilstmSettings, crf_loss, train_bilstm
from ._linear_chain import LinearChain
from ._linear_crf import LinearSettings, train_linear
from ._relation_model import RelationModel
from ._relation_svm import train_relations
from ._structured_svm import SvmSettings, TrainedSvm, train_svm
from ._tagger import Tagger, load_tagger
from ._word_vectors import WordVectors, find_vectors, load_vectors

__all__ = [
    "BilstmCrf",
    "BilstmSettings",
    "Clusters",
    "CodedKeys",
    "CodedText",
    "ConsistentChain",
    "LinearChain",
    "LinearSettings",
    "RelationModel",
    "SvmSettings",
    "Tagger",
    "TrainedSvm",
    "WordVectors",
    "cluster_words",
    "consistent",
    "consistent_over",
    "crf_loss",
    "find_vectors",
    "form",
    "load_tagger",
    "load_vectors",
    "train_bilstm",
    "train_chain_svm",
    "train_linear",
    "train_relations",
    "train_svm",
]
