// Reads the text in a picture with the three PP-OCRv4 models: detect, crop, orient, read.
//
// The same steps as reading.py, number for number. The models are plain functions from arrays to arrays here.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ocr {

// A picture or a row of one: height x width x RGB, 0..255, f32.
struct Picture {
  int height = 0, width = 0;
  std::vector<float> pixels;
  const float *at(int row, int column) const { return &pixels[(size_t(row) * width + column) * 3]; }
  float *at(int row, int column) { return &pixels[(size_t(row) * width + column) * 3]; }
};

// A dense f32 array, the last dimension contiguous.
struct Array {
  std::vector<int64_t> shape;
  std::vector<float> data;
};
using Model = std::function<Array(const Array &)>;

struct Point {
  double x = 0, y = 0;
  friend Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
  friend Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
  friend Point operator*(Point a, double s) { return {a.x * s, a.y * s}; }
  double dot(Point b) const { return x * b.x + y * b.y; }
  double cross(Point b) const { return x * b.y - y * b.x; }
  double length() const;
};

// A rotated rectangle, in pixels of the picture: its centre, the half axes along the text and across it.
struct Box {
  Point centre, along, across;
  std::array<Point, 4> corners() const { // from the text's top left on clockwise
    return {centre - along - across, centre + along - across, centre + along + across, centre - along + across};
  }
};

struct Line {
  std::string text;
  double confidence = 0; // mean score of its characters, 0..1
  Box box;
};

struct Models {
  Model detector, classifier, recogniser;
  std::vector<std::string> characters; // the recogniser's classes
};

// The recogniser's classes from its metadata: blank, the characters listed there, a space.
std::vector<std::string> alphabet(std::string_view metadata);

// The boxes of text in the detector's map of probabilities (height x width), in pixels of the map, top to bottom.
std::vector<Box> boxes(const float *probability, int height, int width);

// The lines of text in a picture, top to bottom. `progress(done, all)` is called before each line is read.
std::vector<Line> read(const Picture &picture, const Models &models, const std::function<void(size_t, size_t)> &progress);

// Draws the outlines of the lines' boxes.
void outline(Picture &picture, const std::vector<Line> &lines);

} // namespace ocr
