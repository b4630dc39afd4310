"""Triton kernels: each reads the batch once and keeps everything else in registers.

A batch is laid out as `(outer, inner)` instances: images and pixels, or one row of all instances. A
program walks over tiles of instances with all their classes, and keeps its own sums over instances;
another kernel adds the programs' sums.

What costs time here is instructions and barriers, not memory. So logarithms are to base 2, as the
processor has them, sums over classes are taken together, and what is constant over the classes of
an instance is left out until the end. With z the scores, s = sum e^z, A = log p - log S and
t = sum e^(z + A): q = e^z / s, r = e^(z + A) / t, log r - log q = A + log s - log t. The formulas
are those of the objectives' own modules, against which the kernels are tested.
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

LN_2 = tl.constexpr(0.6931471805599453)
LOG2_E = tl.constexpr(1.4426950408889634)
NEVER = tl.constexpr(-1e30)
"""Stands for log 0 where it is multiplied by 0."""


@triton.jit
def _exp2(x, FAST: tl.constexpr):
    """2^x; where FAST without the detour for numbers under 1e-38."""
    if FAST:
        return tl.inline_asm_elementwise(
            "ex2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
        )
    return tl.exp2(x)


@triton.jit
def _log2(x, FAST: tl.constexpr):
    """Logarithm to base 2; where FAST the processor's own, right to 2e-7."""
    if FAST:
        return tl.inline_asm_elementwise(
            "lg2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
        )
    return tl.log2(x)


@triton.jit
def _two_maxima(a, b, c, d):
    return tl.maximum(a, c), tl.maximum(b, d)


@triton.jit
def _four_sums(a, b, c, d, e, f, g, h):
    return a + e, b + f, c + g, d + h


@triton.jit
def _sharp(
    z,
    p,
    real,
    lS,
    drawn,
    G,
    FORMULA: tl.constexpr,
    ARE_LOGITS: tl.constexpr,
    IN_LOGS: tl.constexpr,
    PULL: tl.constexpr,
    FAST: tl.constexpr,
):
    """Distributions of a tile without smoothing, all logs to base 2.

    Returns value, q, r, A, mean of A under r, log s - log t, log q, and the sum of the part of the
    gradient that comes through S, whose logs are `drawn`, with that part itself.
    """
    A = lS
    if FORMULA == FREE_ENERGY and IN_LOGS:
        p -= tl.max(p, 1)[:, None]
    if FORMULA != CLUSTERING:
        A = (p * LOG2_E if IN_LOGS else _log2(p, FAST)) - lS
        if FORMULA == RQ or FORMULA == EM:
            A = tl.maximum(A, NEVER, propagate_nan=tl.PropagateNan.ALL)
    joint = z + A
    top, joint_top = tl.reduce((z, joint), 1, _two_maxima)
    if not ARE_LOGITS:
        top = top * 0.0
    u = z - top[:, None]
    e = _exp2(u, FAST)
    pulled = e
    if PULL:
        pulled = _exp2(u - drawn, FAST) * G
    x = e
    moment = e
    if FORMULA == RQ:
        x = _exp2(joint - joint_top[:, None], FAST)
        moment = x * A
    elif FORMULA == EM:
        x = _exp2(joint - joint_top[:, None], FAST)
        moment = x * tl.maximum(z, NEVER)
    elif FORMULA == QR:
        x = _exp2(joint - joint_top[:, None], FAST)
        moment = tl.where(real, e * A, 0.0)
    elif FORMULA == FREE_ENERGY:
        x = _exp2(p * LOG2_E, FAST) if IN_LOGS else p
        moment = tl.where(real, e * A, 0.0)
    else:
        moment = tl.where(e == 0, 0.0, e * (lS - u))
    s, t, moment, pull = tl.reduce((e, x, moment, pulled), 1, _four_sums)
    log_s = tl.log2(s)
    if not ARE_LOGITS:
        s = s * 0.0 + 1.0
        log_s = log_s * 0.0
    per_s = 1.0 / s
    per_t = 1.0 / t
    gap = top + log_s - joint_top - tl.log2(t)
    mean = moment * per_t
    q = e * per_s[:, None]
    r = x * per_t[:, None]
    log_q = u - log_s[:, None]
    if FORMULA == RQ:
        value = mean + gap
        value = tl.where(joint_top < 0.1 * NEVER, float("nan"), value)
    elif FORMULA == EM:
        value = top + log_s - mean
        value = tl.where(joint_top < 0.1 * NEVER, float("nan"), value)
    elif FORMULA == QR:
        value = -moment * per_s - gap
    elif FORMULA == FREE_ENERGY:
        gap = -tl.log2(t)
        value = -moment * per_s - gap
    else:
        value = moment * per_s + log_s
    return value, q, q, r, A, mean, gap, log_q, pull * per_s, pulled * per_s[:, None]


@triton.jit
def _smooth(
    z,
    p,
    real,
    lS,
    drawn,
    G,
    eps,
    n_classes,
    FORMULA: tl.constexpr,
    ARE_LOGITS: tl.constexpr,
    IN_LOGS: tl.constexpr,
    PULL: tl.constexpr,
    FAST: tl.constexpr,
):
    """The same with smoothing, which bounds p and q from below, so that p q / S is a number."""
    scale = 1.0 / (1.0 + n_classes * eps)
    if ARE_LOGITS:
        raised = _exp2(z - tl.max(z, 1)[:, None], FAST)
        raw = raised * (1.0 / tl.sum(raised, 1))[:, None]
    else:
        raw = _exp2(z, FAST)
    q = tl.where(real, (raw + eps) * scale, 0.0)
    log_q = _log2(q, FAST)
    A = lS
    x = q
    if FORMULA != CLUSTERING:
        if IN_LOGS:
            p = _exp2(LOG2_E * (p - tl.max(p, 1)[:, None]), FAST)
        p = (p * (1.0 / tl.sum(p, 1))[:, None] + eps) * scale
        A = _log2(p, FAST) - lS
        x = tl.where(real, q * p * _exp2(-lS, FAST), 0.0)
    pulled = q
    if PULL:
        pulled = q * _exp2(-drawn, FAST) * G * (raw * (1.0 / (raw + eps)))
    if FORMULA == RQ:
        moment = x * A
    elif FORMULA == EM:
        moment = tl.where(real, x * log_q, 0.0)
    elif FORMULA == CLUSTERING:
        moment = tl.where(real, q * (lS - log_q), 0.0)
    else:
        moment = q * A
    pulled = tl.where(real, pulled, 0.0)
    _, t, moment, pull = tl.reduce((q, x, moment, pulled), 1, _four_sums)
    per_t = 1.0 / t
    gap = -tl.log2(t)
    mean = moment * per_t
    r = x * per_t[:, None]
    if FORMULA == RQ:
        value = mean + gap
    elif FORMULA == EM:
        value = -mean
    elif FORMULA == QR:
        value = -moment - gap
    elif FORMULA == FREE_ENERGY:
        gap = gap * 0.0
        value = -moment
    else:
        value = moment
    return value, raw, q, r, A, mean, gap, log_q, pull, pulled


@triton.jit
def _terms(
    score_pointers,
    belief_pointers,
    real,
    w,
    lS,
    drawn,
    G,
    eps,
    n_classes,
    FORMULA: tl.constexpr,
    ARE_LOGITS: tl.constexpr,
    IN_LOGS: tl.constexpr,
    SMOOTH: tl.constexpr,
    WEIGHTED: tl.constexpr,
    PULL: tl.constexpr,
    FAST: tl.constexpr,
):
    """Of a tile: value, softmax, dL/dlog q with its sum, dL/dlog S, and the pull of S with its sum.

    The sum over classes of dL/dlog q follows from the formula; with smoothing it is taken later.
    """
    z = tl.load(score_pointers, mask=real, other=-float("inf")).to(tl.float32) * LOG2_E
    p = z
    if FORMULA != CLUSTERING:
        outside = -float("inf") if IN_LOGS else 0.0
        p = tl.load(belief_pointers, mask=real, other=outside).to(tl.float32)
    if WEIGHTED:
        absent = real & (w[:, None] == 0)
        z = tl.where(absent, 0.0, z)
        p = tl.where(absent, 1.0, p)
    if SMOOTH:
        value, raw, q, r, A, mean, gap, log_q, pull, pulled = _smooth(
            z, p, real, lS, drawn, G, eps, n_classes, FORMULA, ARE_LOGITS, IN_LOGS, PULL, FAST
        )
    else:
        value, raw, q, r, A, mean, gap, log_q, pull, pulled = _sharp(
            z, p, real, lS, drawn, G, FORMULA, ARE_LOGITS, IN_LOGS, PULL, FAST
        )
    value = value * LN_2
    if FORMULA == RQ:
        centred = (LN_2 * r) * (A - mean[:, None])
        direct = centred - r
        through = -centred
        total = value * 0.0 - 1.0
    elif FORMULA == QR:
        direct = r - (LN_2 * q) * (A + gap[:, None])
        through = q - r
        total = value + 1.0
    elif FORMULA == FREE_ENERGY:
        direct = -(LN_2 * q) * (A + gap[:, None])
        through = q
        total = value
    elif FORMULA == EM:
        direct = -r
        through = r
        total = value * 0.0 - 1.0
    else:
        direct = tl.where(q == 0, 0.0, (LN_2 * q) * (lS - log_q)) - q
        through = q
        total = value - 1.0
    return value, raw, direct, total, through, pull, pulled


@triton.jit
def _place(tile, n_inner, weight, WEIGHTED: tl.constexpr, I: tl.constexpr):
    """Where a tile lies: outer index, first inner index, instances, which are real, weights."""
    per_outer = tl.cdiv(n_inner, I)
    outer = (tile // per_outer).to(tl.int64)
    first = ((tile % per_outer) * I).to(tl.int64)
    inside = first + tl.arange(0, I) < n_inner
    instance = outer * n_inner + first + tl.arange(0, I)
    if WEIGHTED:
        w = tl.load(weight + instance, mask=inside, other=0.0).to(tl.float32)
    else:
        w = tl.where(inside, 1.0, 0.0)
    return outer, first, instance, inside, w


@triton.jit
def _coefficient(upstream, log_weight, instance, inside, w, REDUCTION: tl.constexpr):
    """Share of each instance in the loss, 0 where it is absent."""
    if REDUCTION == NONE:
        c = tl.load(upstream + instance, mask=inside, other=0.0).to(tl.float32)
        return tl.where(inside & (w != 0), c, 0.0)
    if REDUCTION == MEAN:
        return w * tl.exp(-tl.load(log_weight))
    return w


@triton.jit
def sum_prediction(
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
    FAST: tl.constexpr,
    I: tl.constexpr,
    K: tl.constexpr,
):
    """Each program's sum of w q by class, as a maximum and a sum relative to it, to base 2."""
    program = tl.program_id(0)
    label = tl.arange(0, K)
    offsets = tl.arange(0, I)[:, None] * s_inner + label[None, :] * s_class
    top = tl.full((K,), -float("inf"), tl.float32)
    total = tl.zeros((K,), tl.float32)
    total_weight = 0.0
    for tile in range(program, n_tiles, tl.num_programs(0)):
        outer, first, _, inside, w = _place(tile, n_inner, weight, WEIGHTED, I)
        real = inside[:, None] & (label < n_classes)[None, :]
        pointers = scores + outer * s_outer + first * s_inner + offsets
        z = tl.load(pointers, mask=real, other=-float("inf")).to(tl.float32) * LOG2_E
        if WEIGHTED:
            z = tl.where(real & (w[:, None] == 0), 0.0, z)
        log_q = z
        if ARE_LOGITS:
            u = z - tl.max(z, 1)[:, None]
            raised = _exp2(u, FAST)
            s = tl.sum(raised, 1)
            # Instances outside the batch have s = 0 / 0; they are left out below.
            log_q = u - tl.log2(s)[:, None]
        if SMOOTH:
            q = _exp2(log_q, FAST)
            log_q = _log2((q + eps) * (1.0 / (1.0 + n_classes * eps)), FAST)
        if WEIGHTED:
            log_q += tl.log2(w)[:, None]
        log_q = tl.where(real, log_q, -float("inf"))
        new_top = tl.maximum(top, tl.max(log_q, 0))
        anchor = tl.where(new_top == -float("inf"), 0.0, new_top)
        total = total * _exp2(top - anchor, FAST)
        total += tl.sum(_exp2(log_q - anchor[None, :], FAST), 0)
        top = new_top
        total_weight += tl.sum(w, 0)
    tl.store(weight_out + program, total_weight)
    tl.store(top_out + program * n_classes + label, top, mask=label < n_classes)
    tl.store(sum_out + program * n_classes + label, total, mask=label < n_classes)


@triton.jit
def mass_of_programs(
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
        scaled = own_sum * tl.exp2(own_top - anchor[None, :])
        total = total * tl.exp2(top - anchor) + tl.sum(scaled, 0)
        top = new_top
        weight += tl.sum(tl.load(weight_in + row, mask=row < n_programs, other=0.0), 0)
    log_S = (top + tl.log2(total)) * LN_2
    tl.store(log_sum + label, log_S, mask=label < n_classes)
    tl.store(log_mass + label, log_S - tl.log(weight), mask=label < n_classes)
    if tl.program_id(0) == 0:
        tl.store(log_weight, tl.log(weight))


@triton.jit
def add_programs(rows, coupling, total, n_programs, n_classes, P: tl.constexpr, K: tl.constexpr):
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
def value_and_coupling(
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
    FAST: tl.constexpr,
    I: tl.constexpr,
    K: tl.constexpr,
):
    """Either each instance's value (BARE), or each program's sums of c L and of c dL/dlog S."""
    program = tl.program_id(0)
    label = tl.arange(0, K)
    known = label < n_classes
    lS = tl.load(log_mass + label, mask=known, other=0.0)[None, :] * LOG2_E
    offsets = tl.arange(0, I)[:, None] * s_inner + label[None, :] * s_class
    beliefs = tl.arange(0, I)[:, None] * t_inner + label[None, :] * t_class
    total = tl.zeros((I,), tl.float32)
    coupling = tl.zeros((K,), tl.float32)
    for tile in range(program, n_tiles, tl.num_programs(0)):
        outer, first, instance, inside, w = _place(tile, n_inner, weight, WEIGHTED, I)
        real = inside[:, None] & known[None, :]
        value, _, _, _, through, _, _ = _terms(
            scores + outer * s_outer + first * s_inner + offsets,
            table + outer * t_outer + first * t_inner + beliefs,
            real,
            w,
            lS,
            lS,
            lS,
            eps,
            n_classes,
            FORMULA,
            ARE_LOGITS,
            IN_LOGS,
            SMOOTH,
            WEIGHTED,
            False,
            FAST,
        )
        if BARE:
            tl.store(values_out + instance, tl.where(w == 0, 0.0, value), mask=inside)
        else:
            c = _coefficient(upstream, log_weight, instance, inside, w, REDUCTION)
            total += tl.where(inside, value * c, 0.0)
            if FORMULA != EM:
                coupling += tl.sum(tl.where(real, through * c[:, None], 0.0), 0)
    if not BARE:
        tl.store(sums_out + program * (n_classes + 1) + label, coupling, mask=known)
        tl.store(sums_out + program * (n_classes + 1) + n_classes, tl.sum(total, 0))


@triton.jit
def gradient(
    scores,
    table,
    weight,
    log_mass,
    log_batch_mass,
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
    FAST: tl.constexpr,
    I: tl.constexpr,
    K: tl.constexpr,
):
    """The gradient with respect to the scores, which `out` is laid out like."""
    program = tl.program_id(0)
    label = tl.arange(0, K)
    known = label < n_classes
    lS = tl.load(log_mass + label, mask=known, other=0.0)[None, :] * LOG2_E
    offsets = tl.arange(0, I)[:, None] * s_inner + label[None, :] * s_class
    beliefs = tl.arange(0, I)[:, None] * t_inner + label[None, :] * t_class
    scale = n_processes * 1.0
    if REDUCTION != NONE:
        scale *= tl.load(upstream).to(tl.float32)
    drawn = lS
    G = lS * 0.0
    if FLOWS:
        drawn = tl.load(log_batch_mass + label, mask=known, other=0.0)[None, :] * LOG2_E
        drawn += tl.load(log_weight).to(tl.float32) * LOG2_E
        G = tl.load(coupling + label, mask=known, other=0.0)[None, :]
    for tile in range(program, n_tiles, tl.num_programs(0)):
        outer, first, instance, inside, w = _place(tile, n_inner, weight, WEIGHTED, I)
        real = inside[:, None] & known[None, :]
        place = outer * s_outer + first * s_inner + offsets
        _, raw, direct, total, _, pull, pulled = _terms(
            scores + place,
            table + outer * t_outer + first * t_inner + beliefs,
            real,
            w,
            lS,
            drawn,
            G,
            eps,
            n_classes,
            FORMULA,
            ARE_LOGITS,
            IN_LOGS,
            SMOOTH,
            WEIGHTED,
            FLOWS,
            FAST,
        )
        c = _coefficient(upstream, log_weight, instance, inside, w, REDUCTION) * scale
        if SMOOTH:
            direct = tl.where(real, direct * (raw * (1.0 / (raw + eps))), 0.0)
            total = tl.sum(direct, 1) if ARE_LOGITS else total
        g = direct * c[:, None]
        total *= c
        if FLOWS:
            g += pulled * (w * scale)[:, None]
            total += pull * (w * scale)
        if ARE_LOGITS:
            g -= raw * total[:, None]
        if WEIGHTED:
            g = tl.where(w[:, None] == 0, 0.0, g)
        tl.store(out + place, g.to(out.dtype.element_ty), mask=real)
