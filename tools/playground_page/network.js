"use strict";
// The mathematics, as in lcons_core. Weights are integers times a power of two, so no sum is rounded.

const exact = (net) => ({
  W: net.W.map((row) => row.map((w) => w / 2 ** net.shift)),
  b: net.b.map((w) => w / 2 ** net.shift),
});
const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);
const activations = (net, psi) => net.W.map((row, k) => sum(row.map((w, j) => w * psi[j])) + net.b[k]);
const spent = (a) => a.map((x) => Math.max(x, 0));
const marginOf = (a) => 1 - sum(spent(a));

// S* = {k : a_k > 0}, the subset of the most violated row; the largest activation if no unit is active.
function worstSubset(a) {
  const active = a.map((x) => x > 0);
  if (!active.includes(true)) active[a.indexOf(Math.max(...a))] = true;
  return active;
}

// Theorem 1: the row of S is 1 - sum_{k in S} a_k >= 0; all non-empty S, in the order of binary counting.
function rowsOf(net) {
  const K = net.b.length;
  return Array.from({ length: 2 ** K - 1 }, (_, i) => {
    const subset = net.b.map((_, k) => Boolean(((i + 1) >> k) & 1));
    const inside = net.b.map((_, k) => k).filter((k) => subset[k]);
    return {
      subset,
      coefficients: net.W[0].map((_, j) => 0 - sum(inside.map((k) => net.W[k][j]))),
      bias: 1 - sum(inside.map((k) => net.b[k])),
    };
  });
}
const valueAt = (row, psi) => sum(row.coefficients.map((w, j) => w * psi[j])) + row.bias;

function judge(net, psi) {
  const a = activations(net, psi);
  const margin = marginOf(a);
  return { activations: a, margin, accepted: margin >= 0, subset: worstSubset(a) };
}

// The network of a set of ticked pairs. One network per pattern was learned; a set of ticks is one of
// these patterns with its rows and columns in another order, and so is its network.

function orders(n) {
  if (n === 0) return [[]];
  return orders(n - 1).flatMap((order) => order.concat(n - 1).map((_, at) => order.toSpliced(at, 0, n - 1)));
}
function patternOf(ticks, R, C) {
  let best = null;
  for (const p of orders(R)) {
    for (const q of orders(C)) {
      let mask = 0;
      for (let r = 0; r < R; r++) for (let c = 0; c < C; c++) if (ticks[p[r]][q[c]]) mask += 2 ** (r * C + c);
      if (best === null || mask < best.mask) best = { mask, p, q };
    }
  }
  return best;
}
function tickedNetwork(example, K, ticks) {
  const R = example.blocks[0].values.length;
  const { mask, p, q } = patternOf(ticks, R, example.blocks[1].values.length);
  const found = example.networks[K][mask];
  if (!found) return null;
  const { W, b } = exact(found);
  const renamed = W.map((row) => {
    const own = row.map(() => 0);
    p.forEach((from, to) => {
      own[from] = row[to];
    });
    q.forEach((from, to) => {
      own[R + from] = row[R + to];
    });
    return own;
  });
  return { W: renamed, b };
}
function oneHot(example, choice) {
  return example.blocks.flatMap((block, i) => block.values.map((_, v) => (v === choice[i] ? 1 : 0)));
}

// Rules of a table of verdicts: every forbidden pair is in one of them.
function wordsOf(example, allowed) {
  const [rows, columns] = example.blocks;
  const listed = (names) => (names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`);
  const dead = rows.values.map((_, r) => allowed[r].every((ok) => !ok));
  const alive = rows.values.map((_, r) => r).filter((r) => !dead[r]);
  const found = [];
  const never = rows.values.filter((_, r) => dead[r]);
  if (never.length)
    found.push({ words: `${rows.name} ${listed(never)} is never allowed`, rows: never, columns: columns.values });
  const groups = new Map();
  columns.values.forEach((name, c) => {
    const needs = alive.filter((r) => allowed[r][c]);
    if (needs.length < alive.length) groups.set(needs.join(), [...(groups.get(needs.join()) || []), name]);
  });
  for (const [key, names] of groups) {
    const needs = key === "" ? [] : key.split(",").map(Number);
    const out = alive.filter((r) => !needs.includes(r)).map((r) => rows.values[r]);
    const words = needs.length
      ? `${columns.name} ${listed(names)} needs ${rows.name} ${listed(needs.map((r) => rows.values[r]))}`
      : `${columns.name} ${listed(names)} is never allowed`;
    found.push({ words, rows: out, columns: names });
  }
  return found;
}
