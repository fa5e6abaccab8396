"""Reads the text in a picture with the three PP-OCRv4 models: detect, crop, orient, read.

The models are plain functions from arrays to arrays here, so that the same code runs them on any device, or under
another runtime for comparison. All steps between the models are in this file; `reading.cc` is the same in C++.
"""
from dataclasses import dataclass
from typing import Callable

import numpy as np

Model = Callable[[np.ndarray], np.ndarray]


@dataclass
class Box:
    """A rotated rectangle, in pixels of the picture: its centre, the half axes along the text and across it."""
    centre: np.ndarray
    along: np.ndarray
    across: np.ndarray

    def corners(self) -> np.ndarray:
        """The corners [4, 2], from the text's top left on clockwise."""
        c, u, v = self.centre, self.along, self.across
        return np.array([c - u - v, c + u - v, c + u + v, c - u + v])


@dataclass
class Line:
    text: str
    confidence: float
    box: Box


# --- detection ---------------------------------------------------------------------------------------------------

DETECTOR_SIDE = 640       # the longer side of what the detector sees; both sides are multiples of 32
TEXT, BOX = 0.3, 0.5      # a pixel is text, a region is a box, from this probability on
UNCLIP = 1.6              # the detector marks a shrunk region: grow it by area * UNCLIP / perimeter


def resize(picture: np.ndarray, height: int, width: int) -> np.ndarray:
    """Bilinear, half-pixel centres, f32."""
    return sample(picture, np.array([0.0, 0.0]), np.array([picture.shape[1] / width, 0.0]), np.array([0.0, picture.shape[0] / height]), height, width)


def sample(picture: np.ndarray, origin: np.ndarray, right: np.ndarray, down: np.ndarray, height: int, width: int) -> np.ndarray:
    """The picture [h, w, 3] seen through an affine grid: pixel (i, j) at origin + (j + 0.5) right + (i + 0.5) down, bilinear; edges repeat."""
    i, j = np.mgrid[0:height, 0:width] + 0.5
    x = origin[0] + j * right[0] + i * down[0] - 0.5
    y = origin[1] + j * right[1] + i * down[1] - 0.5
    x0, y0 = np.floor(x).astype(int), np.floor(y).astype(int)
    fx, fy = (x - x0)[..., None], (y - y0)[..., None]

    def at(yy, xx):
        return picture[np.clip(yy, 0, picture.shape[0] - 1), np.clip(xx, 0, picture.shape[1] - 1)].astype(np.float64)

    top = at(y0, x0) * (1 - fx) + at(y0, x0 + 1) * fx
    bottom = at(y0 + 1, x0) * (1 - fx) + at(y0 + 1, x0 + 1) * fx
    return (top * (1 - fy) + bottom * fy).astype(np.float32)


def as_input(picture: np.ndarray) -> np.ndarray:
    """[h, w, RGB] in 0…255 → [1, BGR, h, w] in -1…1: what all three models take."""
    return np.ascontiguousarray(((picture[..., ::-1] / np.float32(127.5)) - np.float32(1)).transpose(2, 0, 1)[None], dtype=np.float32)


def regions(mask: np.ndarray) -> list[np.ndarray]:
    """The 8-connected regions of a mask, as row runs [n, 3] of (row, first column, last column)."""
    parent: list[int] = []

    def root(a: int) -> int:
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        return a

    runs: list[tuple[int, int, int]] = []
    above: list[int] = []
    for row in range(mask.shape[0]):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], mask[row].astype(np.int8), [0]))))
        current = []
        for first, end in zip(edges[0::2], edges[1::2]):
            me = len(runs)
            runs.append((row, int(first), int(end) - 1))
            parent.append(me)
            for other in above:
                if runs[other][1] <= end and runs[other][2] >= first - 1:
                    parent[root(me)] = root(other)
            current.append(me)
        above = current
    members: dict[int, list[tuple[int, int, int]]] = {}
    for index, run in enumerate(runs):
        members.setdefault(root(index), []).append(run)
    return [np.array(m) for m in members.values()]


def hull(points: np.ndarray) -> np.ndarray:
    """Convex hull, counterclockwise (Andrew's monotone chain)."""
    points = np.unique(points, axis=0)
    if len(points) < 3:
        return points

    def chain(sequence):
        out: list[np.ndarray] = []
        for p in sequence:
            while len(out) > 1 and (out[-1][0] - out[-2][0]) * (p[1] - out[-2][1]) <= (out[-1][1] - out[-2][1]) * (p[0] - out[-2][0]):
                out.pop()
            out.append(p)
        return out[:-1]

    return np.array(chain(points) + chain(points[::-1]))


def smallest_rectangle(points: np.ndarray) -> Box:
    """The rectangle of least area around points [n, 2]: one of its sides lies on an edge of the hull."""
    corners = hull(points).astype(np.float64)
    edges = np.roll(corners, -1, axis=0) - corners
    best, least = None, np.inf
    for edge in edges:
        length = np.hypot(*edge)
        if length == 0:
            continue
        u = edge / length
        v = np.array([-u[1], u[0]])
        a, b = corners @ u, corners @ v
        area = (a.max() - a.min()) * (b.max() - b.min())
        if area < least - 1e-9:
            least = area
            centre = u * (a.max() + a.min()) / 2 + v * (b.max() + b.min()) / 2
            best = (centre, u * (a.max() - a.min()) / 2, v * (b.max() - b.min()) / 2)
    if best is None:
        return Box(corners[0], np.zeros(2), np.zeros(2))
    centre, u, v = best
    if abs(u[0]) * np.hypot(*v) < abs(v[0]) * np.hypot(*u):  # `along` is the axis nearer to horizontal, pointing right
        u, v = v, u
    if u[0] < 0:
        u = -u
    if u[0] * v[1] - u[1] * v[0] < 0:  # `across` points down
        v = -v
    return Box(centre, u, v)


def grown(box: Box, by: float) -> Box:
    def longer(axis: np.ndarray) -> np.ndarray:
        return axis * (1 + by / np.hypot(*axis))
    return Box(box.centre, longer(box.along), longer(box.across))


def boxes(probability: np.ndarray) -> list[Box]:
    """From the detector's map [h, w] to the boxes of text, in pixels of the map, top to bottom."""
    found = []
    for runs in regions(probability > TEXT):
        ends = np.concatenate([runs[:, [1, 0]], runs[:, [2, 0]]])
        box = smallest_rectangle(ends)
        w, h = 2 * np.hypot(*box.along), 2 * np.hypot(*box.across)
        if min(w, h) < 3:
            continue
        score = np.mean(np.concatenate([probability[r, a:b + 1] for r, a, b in runs]))
        if score < BOX:
            continue
        found.append(grown(box, w * h * UNCLIP / (2 * (w + h))))
    return sorted(found, key=lambda b: (round(b.centre[1]), b.centre[0]))


def detect(picture: np.ndarray, detector: Model) -> list[Box]:
    height, width = picture.shape[:2]
    scale = DETECTOR_SIDE / max(height, width)
    h, w = (max(32, round(side * scale / 32) * 32) for side in (height, width))
    probability = detector(as_input(resize(picture, h, w)))[0, 0]
    back = np.array([width / w, height / h])
    return [Box((b.centre + 0.5) * back, b.along * back, b.across * back) for b in boxes(probability)]


# --- recognition -------------------------------------------------------------------------------------------------

HEIGHT = 48               # of what the recogniser and the classifier see
WIDTHS = (320, 480, 640, 960)
CLASSIFIER_WIDTH = 192


def crop(picture: np.ndarray, box: Box, height: int) -> np.ndarray:
    """What is in the box, upright, `height` pixels high; a box much taller than wide is read top to bottom."""
    u, v = box.along, box.across
    if np.hypot(*v) >= 1.5 * np.hypot(*u):
        u, v = v, -u
    width = max(1, round(height * np.hypot(*u) / np.hypot(*v)))
    return sample(picture, box.centre - u - v, 2 * u / width, 2 * v / height, height, width)


def padded(line: np.ndarray, width: int) -> np.ndarray:
    """As a model's input, with nothing (0) right of the line; a longer line is squeezed."""
    if line.shape[1] > width:
        line = resize(line, line.shape[0], width)
    batch = np.zeros((1, 3, line.shape[0], width), np.float32)
    batch[..., :line.shape[1]] = as_input(line)
    return batch


def upright(line: np.ndarray, classifier: Model) -> np.ndarray:
    """Turned by 180° where the classifier is sure that it stands on its head."""
    scores = classifier(padded(line, CLASSIFIER_WIDTH))[0]
    return line[::-1, ::-1] if scores[1] > 0.9 else line


def decoded(scores: np.ndarray, characters: list[str]) -> tuple[str, float]:
    """Greedy CTC: the best class of each step [t, classes], repeats and blanks (class 0) dropped; and their mean score."""
    best = scores.argmax(axis=1)
    kept = (best != 0) & (best != np.concatenate(([0], best[:-1])))
    text = "".join(characters[c] for c in best[kept])
    return text, float(scores.max(axis=1)[kept].mean()) if text else 0.0


def read_line(line: np.ndarray, recogniser: Model, characters: list[str]) -> tuple[str, float]:
    width = next((w for w in WIDTHS if w >= line.shape[1]), WIDTHS[-1])
    return decoded(recogniser(padded(line, width))[0], characters)


def alphabet(metadata: str) -> list[str]:
    """The recogniser's classes: blank, the characters its metadata lists, a space."""
    return [""] + metadata.split("\n") + [" "]


def read(picture: np.ndarray, detector: Model, classifier: Model, recogniser: Model, characters: list[str]) -> list[Line]:
    """The lines of text in a picture [h, w, RGB], top to bottom."""
    lines = []
    for box in detect(picture, detector):
        text, confidence = read_line(upright(crop(picture, box, HEIGHT), classifier), recogniser, characters)
        if confidence >= 0.5:
            lines.append(Line(text, confidence, box))
    return lines
