"""Sparse psi is dense psi, stored otherwise."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lcons_core import InvalidInput, RectifierNetwork, SparsePsi
from lcons_core._psi import as_psi
from lcons_core.testing import weights

MATRICES = arrays.arrays(
    np.float64,
    st.tuples(st.integers(0, 5), st.integers(1, 4)),
    elements=st.sampled_from([0.0, 0.0, -0.0, 1.0, 2.0, -0.5]),
)


@given(MATRICES)
def test_dense_and_sparse_are_inverse(dense):
    sparse = SparsePsi.from_dense(dense)
    assert len(sparse) == len(dense)
    assert np.array_equal(sparse.dense(), dense)
    assert np.all(sparse.values != 0)


@given(st.data())
def test_dot_is_the_matrix_product(data):
    dense = data.draw(MATRICES)
    shape = st.tuples(st.just(dense.shape[1]), st.integers(1, 3))
    columns = data.draw(arrays.arrays(np.float64, shape, elements=weights()))
    assert np.array_equal(SparsePsi.from_dense(dense).dot(columns), dense @ columns)


@given(st.data())
def test_take_is_indexing(data):
    dense = data.draw(MATRICES.filter(len))
    sparse = SparsePsi.from_dense(dense)
    rows = np.array(data.draw(st.lists(st.integers(-len(dense), len(dense) - 1))), dtype=np.int64)
    assert np.array_equal(sparse.take(rows).dense(), dense[rows])
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(dense), max_size=len(dense))))
    assert np.array_equal(sparse.take(mask).dense(), dense[mask])


@given(st.lists(arrays.arrays(np.float64, st.tuples(st.integers(0, 3), st.just(3)), elements=st.sampled_from(
    [0.0, 1.0, 2.0])), min_size=1, max_size=3))  # fmt: skip
def test_stack_is_concatenation(pieces):
    stacked = SparsePsi.stack([SparsePsi.from_dense(piece) for piece in pieces])
    assert np.array_equal(stacked.dense(), np.concatenate(pieces))


@given(MATRICES)
def test_keys_are_equal_exactly_for_equal_vectors(dense):
    keys = SparsePsi.from_dense(dense).row_keys()
    for i, a in enumerate(keys):
        for j, b in enumerate(keys):
            assert (a == b) == np.array_equal(dense[i], dense[j])


@given(MATRICES)
def test_entries_may_come_in_any_order_and_with_zeros(dense):
    _, columns = np.indices(dense.shape)
    backwards = SparsePsi(
        np.arange(len(dense) + 1) * dense.shape[1],
        columns[:, ::-1].ravel(),
        dense[:, ::-1].ravel(),
        dense.shape[1],
    )
    assert np.array_equal(backwards.dense(), dense)
    assert backwards.row_keys() == SparsePsi.from_dense(dense).row_keys()


@given(MATRICES)
def test_scipy_matrices_of_any_layout_are_read(dense):
    for layout in (scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array):
        read = as_psi(layout(dense), dense.shape[1])
        assert isinstance(read, SparsePsi)
        assert np.array_equal(read.dense(), dense)


def test_scipy_duplicates_are_added_and_the_matrix_is_left_alone():
    twice = scipy.sparse.csr_matrix(([1.0, 2.0], [1, 1], [0, 2]), shape=(1, 3))
    assert as_psi(twice, 3).dense().tolist() == [[0.0, 3.0, 0.0]]
    assert twice.nnz == 2
    vector = scipy.sparse.coo_array(np.array([0.0, 1.0]))
    assert as_psi(vector, 2).dense().tolist() == [[0.0, 1.0]]


def test_index_lists_and_column_arrays_are_read():
    assert SparsePsi.from_indices([[2, 0], []], d=3).dense().tolist() == [[1, 0, 1], [0, 0, 0]]
    assert SparsePsi.from_indices([], d=3).dense().shape == (0, 3)
    assert SparsePsi.from_columns(np.array([[0, -1], [1, 2]]), d=3).dense().tolist() == [
        [1, 0, 0],
        [0, 1, 1],
    ]


def test_dense_input_is_not_copied_and_lists_are_read():
    dense = np.zeros((2, 3))
    assert as_psi(dense, 3) is dense
    assert as_psi([0, 1, 1], 3).tolist() == [0.0, 1.0, 1.0]
    assert as_psi([[True, False]], 2).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    "bad",
    [
        [[1.0, float("nan")]],
        [[1.0, float("inf")]],
        [[1.0]],
        [[1.0, 2.0], [3.0]],
        [[[1.0, 2.0]]],
        None,
        [1j, 0],
        scipy.sparse.csr_array([[1.0]]),
        scipy.sparse.csr_array([[float("nan"), 0.0]]),
        SparsePsi.from_indices([[0]], d=3),
    ],
)
def test_what_is_no_psi_is_refused(bad):
    for ask in (lambda: as_psi(bad, 2), lambda: RectifierNetwork([[1.0, 1.0]], [0.0]).accepts(bad)):
        with pytest.raises(InvalidInput):
            ask()


@pytest.mark.parametrize(
    "make",
    [
        lambda: SparsePsi.from_indices([[3]], d=3),
        lambda: SparsePsi.from_indices([[-1]], d=3),
        lambda: SparsePsi.from_indices([[0, 0]], d=3),
        lambda: SparsePsi.from_indices([[0.5]], d=3),  # type: ignore[list-item]
        lambda: SparsePsi([0, 2], [0], [1.0], 3),
        lambda: SparsePsi([0, 1], [0], [1.0, 2.0], 3),
        lambda: SparsePsi([0, 2, 1], [0], [1.0], 3),
        lambda: SparsePsi([1, 1], [], [], 3),
        lambda: SparsePsi([], [], [], 3),
        lambda: SparsePsi([0, 1], [0], [float("nan")], 3),
        lambda: SparsePsi.stack([]),
        lambda: SparsePsi.stack([SparsePsi.from_indices([], 2), SparsePsi.from_indices([], 3)]),
    ],
)
def test_index_lists_that_do_not_fit_are_refused(make):
    with pytest.raises(InvalidInput):
        make()


@given(st.lists(st.sets(st.integers(0, 3), max_size=3), max_size=12), st.booleans())
def test_groups_are_those_of_equal_keys_in_order_of_first_rows(rows, equally_long):
    lists = [sorted(row)[:1] or [0] for row in rows] if equally_long else [sorted(row) for row in rows]
    psi = SparsePsi.from_indices(lists, d=4)
    known: dict[bytes, int] = {}
    expected = [known.setdefault(key, len(known)) for key in psi.row_keys()]
    group, first = psi.groups()
    assert group.tolist() == expected
    assert [psi.row_keys()[i] for i in first] == list(known)
