// ONNX's protobuf classes as the packaged library is built. Heavy: only what reads the file's structure includes it.
#pragma once
#ifndef ONNX_ML
#define ONNX_ML 1
#endif
#ifndef ONNX_NAMESPACE
#define ONNX_NAMESPACE onnx
#endif
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wall"
#pragma clang diagnostic ignored "-Wextra"
#include <onnx/onnx_pb.h>
#pragma clang diagnostic pop
