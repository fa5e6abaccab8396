// Reads the text in a picture with the three PP-OCRv4 models, on an NPU with the CPU beside it, through libdougong.
//
//   ocr PICTURE.png --models FOLDER [--device npu|cpu|auto] [--machine phone] [--boxes OUT.png] [--report]
//
// What happens between the models stands in ocr/reading.cc and ocr/boxes.cc; this file is how a program uses Dougong.
#include "examples/ocr/reading.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <dougong.hpp>
#include <filesystem>
#include <unistd.h>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

namespace {

struct Options {
  std::string picture, models, device = "npu", machine = "phone", boxes;
  bool report = false;
};

ocr::Picture load(const std::string &path) {
  int width, height, channels;
  unsigned char *bytes = stbi_load(path.c_str(), &width, &height, &channels, 3);
  if (!bytes)
    throw std::runtime_error("cannot read the picture '" + path + "': " + stbi_failure_reason() + " (PNG and JPEG are read)");
  ocr::Picture picture{height, width, std::vector<float>(bytes, bytes + size_t(width) * height * 3)};
  stbi_image_free(bytes);
  return picture;
}

void save(const ocr::Picture &picture, const std::string &path) {
  std::vector<unsigned char> bytes(picture.pixels.begin(), picture.pixels.end());
  if (!stbi_write_png(path.c_str(), picture.width, picture.height, 3, bytes.data(), picture.width * 3))
    throw std::runtime_error("cannot write '" + path + "'");
}

// A line on stderr that is rewritten on a terminal; elsewhere one every two seconds.
void progress(const std::string &now) {
  using Clock = std::chrono::steady_clock;
  static Clock::time_point last = Clock::now();
  bool terminal = isatty(2);
  if (!terminal && Clock::now() - last < std::chrono::seconds(2))
    return;
  last = Clock::now();
  std::fprintf(stderr, terminal ? "\r\033[K%s" : "%s\n", now.c_str());
}

// The model as `dougong compile` made it, if that is in the folder; else the ONNX file.
dougong::Session open(const Options &options, const std::string &name) {
  std::string file = name + (std::filesystem::exists(options.models + "/" + name + ".dgx") ? ".dgx" : ".onnx");
  dougong::SessionOptions how{.device = options.device, .machine = options.machine, .timing = options.report};
  how.progress = [file](const char *now) { progress(file + ": " + now); };
  return dougong::Session(options.models + "/" + file, std::move(how));
}

// A model with one input and one output, as the reading steps call it.
ocr::Model as_model(dougong::Session &session) {
  return [&session](const ocr::Array &input) {
    dougong::Tensors outputs = session.run({{session.inputs()[0].name, dougong::Tensor::of(input.shape, input.data)}});
    const dougong::Tensor &output = outputs.begin()->second;
    return ocr::Array{output.shape, {output.data<float>(), output.data<float>() + output.count()}};
  };
}

void run(const Options &options) {
  ocr::Picture picture = load(options.picture);
  dougong::Session detector = open(options, "ch_PP-OCRv4_det_infer");
  dougong::Session classifier = open(options, "ch_ppocr_mobile_v2.0_cls_infer");
  dougong::Session recogniser = open(options, "ch_PP-OCRv4_rec_infer");
  ocr::Models models{as_model(detector), as_model(classifier), as_model(recogniser), ocr::alphabet(recogniser.property("character"))};

  progress("detecting");
  std::vector<ocr::Line> lines = ocr::read(picture, models, [](size_t done, size_t all) {
    progress("reading line " + std::to_string(done + 1) + " of " + std::to_string(all));
  });
  if (isatty(2))
    std::fprintf(stderr, "\r\033[K");

  for (const ocr::Line &line : lines)
    std::printf("%-40s %5.1f%%  at (%.0f, %.0f), %.0f x %.0f\n", line.text.c_str(), line.confidence * 100, line.box.centre.x,
                line.box.centre.y, 2 * line.box.along.length(), 2 * line.box.across.length());
  if (lines.empty())
    std::printf("no text found\n");
  if (!options.boxes.empty()) {
    ocr::outline(picture, lines);
    save(picture, options.boxes);
  }
  if (options.report) {
    std::printf("\n== detection ==\n%s", detector.report().c_str());
    if (!lines.empty())
      std::printf("\n== recognition, last line ==\n%s", recogniser.report().c_str());
  }
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Reads the text in a picture.");
  Options options;
  app.add_option("PICTURE", options.picture, "a PNG or JPEG file")->required()->check(CLI::ExistingFile);
  app.add_option("--models", options.models,
                 "the folder with the PP-OCRv4 models (PyPI's rapidocr-onnxruntime), as .onnx or compiled as .dgx")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--device", options.device, "npu, cpu or auto")->capture_default_str();
  app.add_option("--machine", options.machine, "the NPU's machine: tiny, phone, server, or a .toml file")->capture_default_str();
  app.add_option("--boxes", options.boxes, "write the picture with the boxes drawn on it here (PNG)");
  app.add_flag("--report", options.report, "keep time, and say where time, bytes and energy went");
  try {
    app.parse(argc, argv);
    run(options);
    return 0;
  } catch (const CLI::ParseError &error) {
    return app.exit(error) ? 2 : 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "\nocr: %s\n", error.what());
    return 2;
  }
}
