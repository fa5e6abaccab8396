// The steps around the models: what they are shown, and what their answers mean. See reading.h.
#include "examples/ocr/reading.h"

#include <algorithm>
#include <cmath>

namespace ocr {
namespace {

constexpr int detector_side = 640; // the longer side of what the detector sees; both sides are multiples of 32
constexpr int line_height = 48;    // of what the recogniser and the classifier see
constexpr int classifier_width = 192;
constexpr std::array<int, 4> widths = {320, 480, 640, 960};

// The picture seen through an affine grid: pixel (i, j) at origin + (j + 0.5) right + (i + 0.5) down, bilinear; edges repeat.
Picture sample(const Picture &from, Point origin, Point right, Point down, int height, int width) {
  Picture to{height, width, std::vector<float>(size_t(height) * width * 3)};
  auto row = [&](int y) { return std::clamp(y, 0, from.height - 1); };
  auto column = [&](int x) { return std::clamp(x, 0, from.width - 1); };
  for (int i = 0; i < height; ++i)
    for (int j = 0; j < width; ++j) {
      Point p = origin + right * (j + 0.5) + down * (i + 0.5) - Point{0.5, 0.5};
      int x0 = int(std::floor(p.x)), y0 = int(std::floor(p.y));
      double fx = p.x - x0, fy = p.y - y0;
      const float *a = from.at(row(y0), column(x0)), *b = from.at(row(y0), column(x0 + 1));
      const float *c = from.at(row(y0 + 1), column(x0)), *d = from.at(row(y0 + 1), column(x0 + 1));
      for (int k = 0; k < 3; ++k)
        to.at(i, j)[k] = float((a[k] * (1 - fx) + b[k] * fx) * (1 - fy) + (c[k] * (1 - fx) + d[k] * fx) * fy);
    }
  return to;
}

Picture resize(const Picture &from, int height, int width) {
  return sample(from, {0, 0}, {double(from.width) / width, 0}, {0, double(from.height) / height}, height, width);
}

// RGB 0..255 -> [1, BGR, height, width] in -1..1, zeros right of the picture: what all three models take.
Array as_input(const Picture &picture, int width) {
  Array input{{1, 3, picture.height, width}, std::vector<float>(size_t(3) * picture.height * width)};
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < picture.height; ++i)
      for (int j = 0; j < picture.width; ++j)
        input.data[(size_t(k) * picture.height + i) * width + j] = picture.at(i, j)[2 - k] / 127.5f - 1;
  return input;
}

// A line as a model's input; one longer than `width` is squeezed.
Array padded(const Picture &line, int width) { return as_input(line.width > width ? resize(line, line.height, width) : line, width); }

std::vector<Box> detect(const Picture &picture, const Model &detector) {
  double scale = double(detector_side) / std::max(picture.height, picture.width);
  auto side = [&](int length) { return std::max(32, int(std::nearbyint(length * scale / 32)) * 32); };
  int h = side(picture.height), w = side(picture.width);
  Array map = detector(as_input(resize(picture, h, w), w));
  double sx = double(picture.width) / w, sy = double(picture.height) / h;
  auto back = [&](Point p) { return Point{p.x * sx, p.y * sy}; };
  std::vector<Box> found = boxes(map.data.data(), h, w);
  for (Box &box : found)
    box = {back(box.centre + Point{0.5, 0.5}), back(box.along), back(box.across)};
  return found;
}

// What is in the box, upright; a box much taller than wide is read top to bottom.
Picture crop(const Picture &picture, const Box &box) {
  Point u = box.along, v = box.across;
  if (v.length() >= 1.5 * u.length()) {
    Point across = u * -1;
    u = v, v = across;
  }
  int width = std::max(1, int(std::nearbyint(line_height * u.length() / v.length())));
  return sample(picture, box.centre - u - v, u * (2.0 / width), v * (2.0 / line_height), line_height, width);
}

// Turned by 180 degrees where the classifier is sure that it stands on its head.
Picture upright(Picture line, const Model &classifier) {
  if (classifier(padded(line, classifier_width)).data[1] <= 0.9f)
    return line;
  for (int k = 0, all = line.height * line.width; k < all / 2; ++k)
    std::swap_ranges(&line.pixels[size_t(k) * 3], &line.pixels[size_t(k) * 3] + 3, &line.pixels[size_t(all - 1 - k) * 3]);
  return line;
}

// Greedy CTC: the best class of each step, repeats and blanks (class 0) dropped; and their mean score.
std::pair<std::string, double> decoded(const Array &scores, const std::vector<std::string> &characters) {
  int64_t steps = scores.shape[1], classes = scores.shape[2];
  std::string text;
  double sum = 0, kept = 0;
  int64_t previous = 0;
  for (int64_t t = 0; t < steps; ++t) {
    const float *row = &scores.data[size_t(t * classes)];
    int64_t best = std::max_element(row, row + classes) - row;
    if (best != 0 && best != previous)
      text += characters.at(size_t(best)), sum += row[best], ++kept;
    previous = best;
  }
  return {text, kept ? sum / kept : 0};
}

std::pair<std::string, double> read_line(const Picture &line, const Models &models) {
  auto width = std::find_if(widths.begin(), widths.end(), [&](int w) { return w >= line.width; });
  return decoded(models.recogniser(padded(line, width == widths.end() ? widths.back() : *width)), models.characters);
}

} // namespace

std::vector<std::string> alphabet(std::string_view metadata) {
  std::vector<std::string> characters{""};
  for (size_t from = 0; from <= metadata.size();) {
    size_t to = std::min(metadata.find('\n', from), metadata.size());
    characters.emplace_back(metadata.substr(from, to - from));
    from = to + 1;
  }
  characters.push_back(" ");
  return characters;
}

std::vector<Line> read(const Picture &picture, const Models &models, const std::function<void(size_t, size_t)> &progress) {
  std::vector<Line> lines;
  std::vector<Box> found = detect(picture, models.detector);
  for (size_t i = 0; i < found.size(); ++i) {
    progress(i, found.size());
    auto [text, confidence] = read_line(upright(crop(picture, found[i]), models.classifier), models);
    if (confidence >= 0.5)
      lines.push_back({text, confidence, found[i]});
  }
  return lines;
}

void outline(Picture &picture, const std::vector<Line> &lines) {
  for (const Line &line : lines) {
    std::array<Point, 4> corner = line.box.corners();
    for (int side = 0; side < 4; ++side) {
      Point from = corner[side], way = corner[(side + 1) % 4] - from;
      int steps = int(way.length() * 2) + 1;
      for (int s = 0; s <= steps; ++s) {
        Point p = from + way * (double(s) / steps);
        for (int dy = 0; dy < 2; ++dy)
          for (int dx = 0; dx < 2; ++dx) {
            int x = int(std::floor(p.x)) + dx, y = int(std::floor(p.y)) + dy;
            if (x < 0 || y < 0 || x >= picture.width || y >= picture.height)
              continue;
            float *pixel = picture.at(y, x);
            pixel[0] = 220, pixel[1] = 30, pixel[2] = 30;
          }
      }
    }
  }
}

} // namespace ocr
