// From the detector's map of probabilities to rotated boxes: regions, their convex hulls, the smallest rectangles.
#include "examples/ocr/reading.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace ocr {
namespace {

constexpr float text_from = 0.3f, box_from = 0.5f; // a pixel is text, a region is a box, from this probability on
constexpr double unclip = 1.6;                     // the detector marks a shrunk region: grow it by area * unclip / perimeter

struct Run {
  int row, first, last;
};

// The 8-connected regions of text, as runs of pixels in a row.
std::vector<std::vector<Run>> regions(const float *probability, int height, int width) {
  std::vector<Run> runs;
  std::vector<size_t> parent;
  auto root = [&](size_t a) {
    while (parent[a] != a)
      a = parent[a] = parent[parent[a]];
    return a;
  };
  size_t above = 0;
  for (int row = 0; row < height; ++row) {
    size_t above_end = runs.size();
    const float *line = probability + size_t(row) * width;
    for (int column = 0; column < width; ++column) {
      if (!(line[column] > text_from))
        continue;
      int first = column;
      while (column + 1 < width && line[column + 1] > text_from)
        ++column;
      size_t me = runs.size();
      runs.push_back({row, first, column});
      parent.push_back(me);
      for (size_t other = above; other < above_end; ++other)
        if (runs[other].first <= column + 1 && runs[other].last >= first - 1)
          parent[root(me)] = root(other);
    }
    above = above_end;
  }
  std::map<size_t, std::vector<Run>> members;
  for (size_t i = 0; i < runs.size(); ++i)
    members[root(i)].push_back(runs[i]);
  std::vector<std::vector<Run>> result;
  for (auto &[_, member] : members)
    result.push_back(std::move(member));
  return result;
}

// Convex hull, counterclockwise (Andrew's monotone chain).
std::vector<Point> hull(std::vector<Point> points) {
  auto before = [](Point a, Point b) { return std::pair(a.x, a.y) < std::pair(b.x, b.y); };
  auto same = [](Point a, Point b) { return a.x == b.x && a.y == b.y; };
  std::sort(points.begin(), points.end(), before);
  points.erase(std::unique(points.begin(), points.end(), same), points.end());
  if (points.size() < 3)
    return points;
  std::vector<Point> all;
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<Point> chain;
    for (Point p : points) {
      while (chain.size() > 1 && (chain.back() - chain[chain.size() - 2]).cross(p - chain[chain.size() - 2]) <= 0)
        chain.pop_back();
      chain.push_back(p);
    }
    all.insert(all.end(), chain.begin(), chain.end() - 1);
    std::reverse(points.begin(), points.end());
  }
  return all;
}

// The rectangle of least area around the points: one of its sides lies on an edge of the hull.
Box smallest_rectangle(const std::vector<Point> &points) {
  std::vector<Point> corners = hull(points);
  Box best{corners[0], {}, {}};
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < corners.size(); ++i) {
    Point edge = corners[(i + 1) % corners.size()] - corners[i];
    if (edge.length() == 0)
      continue;
    Point u = edge * (1 / edge.length()), v{-u.y, u.x};
    double a0 = 1e300, a1 = -1e300, b0 = 1e300, b1 = -1e300;
    for (Point p : corners) {
      a0 = std::min(a0, p.dot(u)), a1 = std::max(a1, p.dot(u));
      b0 = std::min(b0, p.dot(v)), b1 = std::max(b1, p.dot(v));
    }
    if (double area = (a1 - a0) * (b1 - b0); area < least - 1e-9) {
      least = area;
      best = {u * ((a1 + a0) / 2) + v * ((b1 + b0) / 2), u * ((a1 - a0) / 2), v * ((b1 - b0) / 2)};
    }
  }
  auto &[centre, u, v] = best;
  if (std::abs(u.x) * v.length() < std::abs(v.x) * u.length())
    std::swap(u, v); // `along` is nearer to horizontal, pointing right
  if (u.x < 0)
    u = u * -1;
  if (u.cross(v) < 0)
    v = v * -1; // `across` points down
  return best;
}

double mean_of(const float *probability, int width, const std::vector<Run> &region) {
  double sum = 0, count = 0;
  for (const Run &run : region)
    for (int column = run.first; column <= run.last; ++column)
      sum += probability[size_t(run.row) * width + column], ++count;
  return sum / count;
}

Point longer(Point axis, double by) { return axis * (1 + by / axis.length()); }

} // namespace

double Point::length() const { return std::hypot(x, y); }

std::vector<Box> boxes(const float *probability, int height, int width) {
  std::vector<Box> found;
  for (const std::vector<Run> &region : regions(probability, height, width)) {
    std::vector<Point> ends;
    for (const Run &run : region)
      ends.push_back({double(run.first), double(run.row)}), ends.push_back({double(run.last), double(run.row)});
    Box box = smallest_rectangle(ends);
    double w = 2 * box.along.length(), h = 2 * box.across.length();
    if (std::min(w, h) < 3 || mean_of(probability, width, region) < box_from)
      continue;
    double by = w * h * unclip / (2 * (w + h));
    found.push_back({box.centre, longer(box.along, by), longer(box.across, by)});
  }
  std::sort(found.begin(), found.end(), [](const Box &a, const Box &b) {
    return std::pair(std::nearbyint(a.centre.y), a.centre.x) < std::pair(std::nearbyint(b.centre.y), b.centre.x);
  });
  return found;
}

} // namespace ocr
