"""Triton kernels: each reads the batch once and keeps everything else in registers.

A batch is laid out as `(outer, inner)` instances: images and pixels, or one row of all instances. A
program walks over tiles of instances and all their classes, and keeps its own sums over instances;
another kernel adds the programs' sums. Formulas repeat those of the objectives' modules, against
which they are tested.
"""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["add_programs", "gradient", "mass_of_programs", "sum_prediction", "value_and_coupling"]

RQ = tl.constexpr(0)
QR = tl.constexpr(1)
FREE_ENERGY = tl.constexpr(2)
EM = tl.constexpr(3)
CLUSTERING = tl.constexpr(4)

MEAN = tl.constexpr(0)
SUM = tl.constexpr(1)
NONE = tl.constexpr(2)


@triton.jit
def _prediction(  # type: ignore[no-untyped-def]
    scores, offsets, real, present, eps, n_classes, ARE_LOGITS: tl.constexpr, SMOOTH: tl.constexpr
):
    """The softmax before smoothing, q and log q of a tile; 0, 0 and -inf outside it."""
    z = tl.load(scores + offsets, mask=real, other=-float("inf")).to(tl.float32)
    z = tl.where(real & (present[:, None] == 0), 0.0, z)
    if ARE_LOGITS:
        shifted = z - tl.max(z, 1)[:, None]
        raised = tl.exp(shifted)
        total = tl.sum(raised, 1)[:, None]
        raw = raised / total
        log_q = shifted - tl.log(total)
    else:
        raw = tl.exp(z)
        log_q = z
    q = raw
    if SMOOTH:
        q = tl.where(real, (raw + eps) / (1.0 + n_classes * eps), 0.0)
        log_q = tl.log(q)
    return raw, q, tl.where(real, log_q, -float("inf"))


@triton.jit
def _log_belief(  # type: ignore[no-untyped-def]
    table,
    offsets,
    real,
    present,
    eps,
    n_classes,
    IN_LOGS: tl.constexpr,
    SMOOTH: tl.constexpr,
    NORMALISE: tl.constexpr,
):
    """Log p of a tile, smoothed, and normalised where that matters; -inf outside the tile."""
    p = tl.load(table + offsets, mask=real, other=0.0).to(tl.float32)
    p = tl.where(real & (present[:, None] == 0), 1.0, p)
    if IN_LOGS:
        p = tl.where(real, p, -float("inf"))
        if SMOOTH or NORMALISE:
            p = p - tl.max(p, 1)[:, None]
            p = p - tl.log(tl.sum(tl.exp(p), 1))[:, None]
        if SMOOTH:
            p = tl.log((tl.exp(p) + eps) / (1.0 + n_classes * eps))
    else:
        if SMOOTH or NORMALISE:
            p = p / tl.sum(p, 1)[:, None]
        if SMOOTH:
            p = (p + eps) / (1.0 + n_classes * eps)
        p = tl.log(p)
    return tl.where(real, p, -float("inf"))


@triton.jit
def _terms(log_q, q, log_p, log_S, FORMULA: tl.constexpr):  # type: ignore[no-untyped-def]
    """Value, direct derivative and derivative through log S of a tile, as in the formulas."""
    if FORMULA == FREE_ENERGY:
        direct = tl.where(q == 0, 0.0, q * (log_S - log_p))
        value = tl.sum(direct, 1)
        through = q
    elif FORMULA == CLUSTERING:
        own = tl.where(q == 0, 0.0, q * (log_S - log_q))
        value = tl.sum(own, 1)
        direct = own - q
        through = q
    else:
        joint = log_q + log_p - log_S
        shifted = joint - tl.max(joint, 1)[:, None]
        raised = tl.exp(shifted)
        total = tl.sum(raised, 1)[:, None]
        r = raised / total
        log_r = shifted - tl.log(total)
        if FORMULA == RQ:
            D = tl.where(r == 0, 0.0, log_r - log_q)
            value = tl.sum(r * D, 1)
            centred = r * (D - value[:, None])
            direct = centred - r
            through = -centred
        elif FORMULA == QR:
            qD = tl.where(q == 0, 0.0, q * (log_q - log_r))
            value = tl.sum(qD, 1)
            direct = qD + r
            through = q - r
        else:
            value = -tl.sum(tl.where(r == 0, 0.0, r * log_q), 1)
            direct = -r
            through = r
    return value, direct, through


@triton.jit
def _place(  # type: ignore[no-untyped-def]
    tile, n_inner, n_classes, weight, WEIGHTED: tl.constexpr, I: tl.constexpr, K: tl.constexpr
):
    """Where a tile lies: outer index, inner indices, classes, what is real, and the weights."""
    per_outer = tl.cdiv(n_inner, I)
    outer = (tile // per_outer).to(tl.int64)
    inner = (tile % per_outer) * I + tl.arange(0, I)
    label = tl.arange(0, K)
    inside = inner < n_inner
    instance = outer * n_inner + inner
    if WEIGHTED:
        w = tl.load(weight + instance, mask=inside, other=0.0).to(tl.float32)
    else:
        w = tl.where(inside, 1.0, 0.0)
    return outer, inner, label, inside, instance, w


@triton.jit
def _coefficient(  # type: ignore[no-untyped-def]
    upstream, log_weight, instance, inside, w, REDUCTION: tl.constexpr
):
    """Share of each instance in the loss, 0 where it is absent."""
    if REDUCTION == NONE:
        c = tl.load(upstream + instance, mask=inside, other=0.0).to(tl.float32)
        return tl.where(inside & (w != 0), c, 0.0)
    if REDUCTION == MEAN:
        return w * tl.exp(-tl.load(log_weight))
    return w


@triton.jit
def sum_prediction(  # type: ignore[no-untyped-def]
    scores,
    weight,
    top_out,
    sum_out,
    weight_out,
    n_tiles,
    n_inner,
    n_classes,
    s_outer,
    s_inner,
    s_class,
    eps,
    ARE_LOGITS: tl.constexpr,
    SMOOTH: tl.constexpr,
    WEIGHTED: tl.constexpr,
    I: tl.constexpr,
    K: tl.constexpr,
):
    """Each program's sum of w q by class, as a maximum and a sum relative to it."""
    program = tl.program_id(0)
    top = tl.full((K,), -float("inf"), tl.float32)
    total = tl.zeros((K,), tl.float32)
    total_weight = 0.0
    for tile in range(program, n_tiles, tl.num_programs(0)):
        outer, inner, label, inside, _, w = _place(tile, n_inner, n_classes, weight, WEIGHTED, I, K)
        real = inside[:, None] & (label < n_classes)[None, :]
        offsets = outer * s_outer + inner.to(tl.int64)[:, None] * s_inner + label[None, :] * s_class
        _, _, log_q = _prediction(scores, offsets, real, w, eps, n_classes, ARE_LOGITS, SMOOTH)
        log_wq = log_q + tl.log(w)[:, None] if WEIGHTED else log_q
        log_wq = tl.where(real, log_wq, -float("inf"))
        new_top = tl.maximum(top, tl.max(log_wq, 0))
        anchor = tl.where(new_top == -float("inf"), 0.0, new_top)
        total = total * tl.exp(top - anchor) + tl.sum(tl.exp(log_wq - anchor[None, :]), 0)
        top = new_top
        total_weight += tl.sum(w, 0)
    label = tl.arange(0, K)
    tl.store(weight_out + program, total_weight)
    tl.store(top_out + program * n_classes + label, top, mask=label < n_classes)
    tl.store(sum_out + program * n_classes + label, total, mask=label < n_classes)


@triton.jit
def mass_of_programs(  # type: ignore[no-untyped-def]
    top_in,
    sum_in,
    weight_in,
    log_sum,
    log_weight,
    log_mass,
    n_programs,
    n_classes,
    P: tl.constexpr,
    K: tl.constexpr,
):
    """Log of the programs' sums, class by class, of their weight, and of the ratio."""
    label = tl.program_id(0) * K + tl.arange(0, K)
    top = tl.full((K,), -float("inf"), tl.float32)
    total = tl.zeros((K,), tl.float32)
    weight = 0.0
    for start in range(0, n_programs, P):
        row = start + tl.arange(0, P)
        real = (row < n_programs)[:, None] & (label < n_classes)[None, :]
        offsets = row[:, None] * n_classes + label[None, :]
        own_top = tl.load(top_in + offsets, mask=real, other=-float("inf"))
        own_sum = tl.load(sum_in + offsets, mask=real, other=0.0)
        new_top = tl.maximum(top, tl.max(own_top, 0))
        anchor = tl.where(new_top == -float("inf"), 0.0, new_top)
        scaled = own_sum * tl.exp(own_top - anchor[None, :])
        total = total * tl.exp(top - anchor) + tl.sum(scaled, 0)
        top = new_top
        weight += tl.sum(tl.load(weight_in + row, mask=row < n_programs, other=0.0), 0)
    log_S = top + tl.log(total)
    tl.store(log_sum + label, log_S, mask=label < n_classes)
    tl.store(log_mass + label, log_S - tl.log(weight), mask=label < n_classes)
    if tl.program_id(0) == 0:
        tl.store(log_weight, tl.log(weight))


@triton.jit
def add_programs(  # type: ignore[no-untyped-def]
    rows, coupling, total, n_programs, n_classes, P: tl.constexpr, K: tl.constexpr
):
    """Sum of the programs' rows: G, and the loss in the last column."""
    column = tl.program_id(0) * K + tl.arange(0, K)
    sums = tl.zeros((K,), tl.float32)
    for start in range(0, n_programs, P):
        row = start + tl.arange(0, P)
        real = (row < n_programs)[:, None] & (column <= n_classes)[None, :]
        offsets = row[:, None] * (n_classes + 1) + column[None, :]
        sums += tl.sum(tl.load(rows + offsets, mask=real, other=0.0), 0)
    tl.store(coupling + column, sums, mask=column < n_classes)
    tl.store(total + column - n_classes, sums, mask=column == n_classes)


@triton.jit
def value_and_coupling(  # type: ignore[no-untyped-def]
    scores,
    table,
    weight,
    log_mass,
    log_weight,
    upstream,
    values_out,
    sums_out,
    n_tiles,
    n_inner,
    n_classes,
    s_outer,
    s_inner,
    s_class,
    t_outer,
    t_inner,
    t_class,
    eps,
    FORMULA: tl.constexpr,
    ARE_LOGITS: tl.constexpr,
    IN_LOGS: tl.constexpr,
    SMOOTH: tl.constexpr,
    WEIGHTED: tl.constexpr,
    BARE: tl.constexpr,
    REDUCTION: tl.constexpr,
    I: tl.constexpr,
    K: tl.constexpr,
):
    """Either each instance's value (BARE), or each program's sums of c L and of c dL/dlog S."""
    program = tl.program_id(0)
    label = tl.arange(0, K)
    known = label < n_classes
    log_S = tl.load(log_mass + label, mask=known, other=0.0)[None, :]
    total = 0.0
    coupling = tl.zeros((K,), tl.float32)
    for tile in range(program, n_tiles, tl.num_programs(0)):
        outer, inner, _, inside, instance, w = _place(
            tile, n_inner, n_classes, weight, WEIGHTED, I, K
        )
        real = inside[:, None] & known[None, :]
        wide = inner.to(tl.int64)[:, None]
        offsets = outer * s_outer + wide * s_inner + label[None, :] * s_class
        _, q, log_q = _prediction(scores, offsets, real, w, eps, n_classes, ARE_LOGITS, SMOOTH)
        log_p = log_q
        if FORMULA != CLUSTERING:
            offsets = outer * t_outer + wide * t_inner + label[None, :] * t_class
            log_p = _log_belief(
                table, offsets, real, w, eps, n_classes, IN_LOGS, SMOOTH, FORMULA == FREE_ENERGY
            )
        value, _, through = _terms(log_q, q, log_p, log_S, FORMULA)
        if BARE:
            tl.store(values_out + instance, tl.where(w == 0, 0.0, value), mask=inside)
        else:
            c = _coefficient(upstream, log_weight, instance, inside, w, REDUCTION)
            total += tl.sum(tl.where(inside, value * c, 0.0), 0)
            coupling += tl.sum(tl.where(real, through * c[:, None], 0.0), 0)
    if not BARE:
        tl.store(sums_out + program * (n_classes + 1) + label, coupling, mask=known)
        tl.store(sums_out + program * (n_classes + 1) + n_classes, total)


@triton.jit
def gradient(  # type: ignore[no-untyped-def]
    scores,
    table,
    weight,
    log_mass,
    log_weight,
    upstream,
    coupling,
    out,
    n_processes,
    n_tiles,
    n_inner,
    n_classes,
    s_outer,
    s_inner,
    s_class,
    t_outer,
    t_inner,
    t_class,
    eps,
    FORMULA: tl.constexpr,
    ARE_LOGITS: tl.constexpr,
    IN_LOGS: tl.constexpr,
    SMOOTH: tl.constexpr,
    WEIGHTED: tl.constexpr,
    FLOWS: tl.constexpr,
    REDUCTION: tl.constexpr,
    I: tl.constexpr,
    K: tl.constexpr,
):
    """The gradient with respect to the scores, which `out` is laid out like."""
    program = tl.program_id(0)
    label = tl.arange(0, K)
    known = label < n_classes
    log_S = tl.load(log_mass + label, mask=known, other=0.0)[None, :]
    scale = n_processes * 1.0
    if REDUCTION != NONE:
        scale *= tl.load(upstream).to(tl.float32)
    if FLOWS:
        log_W = tl.load(log_weight).to(tl.float32)
        G = tl.load(coupling + label, mask=known, other=0.0)[None, :]
    for tile in range(program, n_tiles, tl.num_programs(0)):
        outer, inner, _, inside, instance, w = _place(
            tile, n_inner, n_classes, weight, WEIGHTED, I, K
        )
        real = inside[:, None] & known[None, :]
        wide = inner.to(tl.int64)[:, None]
        place = outer * s_outer + wide * s_inner + label[None, :] * s_class
        raw, q, log_q = _prediction(scores, place, real, w, eps, n_classes, ARE_LOGITS, SMOOTH)
        log_p = log_q
        if FORMULA != CLUSTERING:
            offsets = outer * t_outer + wide * t_inner + label[None, :] * t_class
            log_p = _log_belief(
                table, offsets, real, w, eps, n_classes, IN_LOGS, SMOOTH, FORMULA == FREE_ENERGY
            )
        _, direct, _ = _terms(log_q, q, log_p, log_S, FORMULA)
        c = _coefficient(upstream, log_weight, instance, inside, w, REDUCTION)
        g = tl.where(real, direct * c[:, None], 0.0)
        if FLOWS:
            share = tl.exp(log_q - log_S - log_W) * w[:, None]
            g += tl.where(real, share * G, 0.0)
        if SMOOTH:
            g = g * (raw / (raw + eps))
        if ARE_LOGITS:
            g = g - raw * tl.sum(g, 1)[:, None]
        g = tl.where(w[:, None] == 0, 0.0, g * scale)
        tl.store(out + place, g.to(out.dtype.element_ty), mask=real)
