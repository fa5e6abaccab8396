// The header is a Python dictionary literal of three known keys; only that much of Python is read.
#include "tools/npy.h"
#include "runtime/new_file.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <regex>
#include <sstream>

namespace dougong {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);

// 'fortran_order' puts the first index fastest: element i of the file goes to its row-major place.
Tensor turned(const Tensor &from) {
  Tensor to(from.type, from.shape);
  size_t size = size_in_bytes(from.type);
  std::vector<int64_t> index(from.shape.size());
  for (int64_t i = 0, count = element_count(from.shape); i < count; ++i) {
    int64_t place = 0;
    for (size_t d = 0; d < index.size(); ++d)
      place = place * from.shape[d] + index[d];
    std::memcpy(to.bytes.data() + place * size, from.bytes.data() + i * size, size);
    for (size_t d = 0; d < index.size() && ++index[d] == from.shape[d]; ++d)
      index[d] = 0;
  }
  return to;
}

llvm::Error write_whole(const std::string &path, std::string_view first, std::string_view second) {
  NewFile file(path);
  if (file.open()) {
    file.write(first.data(), first.size());
    file.write(second.data(), second.size());
    if (file.commit())
      return llvm::Error::success();
  }
  return fail(Status::Invalid, "{}: cannot be written: {}", path, std::strerror(errno));
}

} // namespace

llvm::Expected<Tensor> read_npy(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail(Status::Invalid, "{}: {}", path, buffer.getError().message());
  llvm::StringRef bytes = (*buffer)->getBuffer();
  if (bytes.size() < 12 || std::string_view(bytes).substr(0, 6) != magic)
    return fail(Status::Invalid, "{}: not a .npy file; numpy.save makes one", path);
  size_t prefix = bytes[6] == 1 ? 10 : 12, length = 0;
  for (size_t i = prefix; i-- > 8;)
    length = length << 8 | uint8_t(bytes[i]);
  if (length > bytes.size() - prefix)
    return fail(Status::Invalid, "{}: truncated: the header is not complete", path);
  if (length > 4096) // numpy's own are of one or two lines
    return fail(Status::Invalid, "{}: its header is not one of a plain array: it has {} bytes", path, length);
  std::string header = bytes.substr(prefix, length).str();
  std::smatch descr, order, dims;
  if (!std::regex_search(header, descr, std::regex("'descr': *'([<>|=])([a-z][0-9]+)'")) ||
      !std::regex_search(header, order, std::regex("'fortran_order': *(True|False)")) ||
      !std::regex_search(header, dims, std::regex("'shape': *\\(([0-9, ]*)\\)")))
    return fail(Status::Invalid, "{}: its header is not one of a plain array: {}", path, header);
  Tensor tensor;
  bool known = false;
  for (const ElementTypeInfo &info : element_types)
    if (descr[2].str() == info.numpy && (descr[1] != ">" || info.bytes == 1))
      tensor.type = info.type, known = true;
  if (!known)
    return fail(Status::Invalid,
                "{}: arrays of type '{}{}' cannot be read; numpy's float16, float32, float64, bool and little-endian integers can", path,
                descr[1].str(), descr[2].str());
  std::istringstream numbers(dims[1].str());
  uint64_t size = size_in_bytes(tensor.type);
  for (std::string part; std::getline(numbers, part, ',');)
    if (part.find_first_of("0123456789") != std::string::npos) {
      tensor.shape.push_back(std::strtoll(part.c_str(), nullptr, 10));
      if (__builtin_mul_overflow(size, uint64_t(tensor.shape.back()), &size))
        return fail(Status::Invalid, "{}: the shape ({}) is too large", path, dims[1].str());
    }
  size_t have = bytes.size() - prefix - length;
  if (have != size)
    return fail(Status::Invalid, "{}: {}: an array of shape ({}) has {} bytes, the file has {}", path,
                have < size ? "truncated" : "too long", dims[1].str(), size, have);
  tensor.bytes.assign(bytes.end() - ptrdiff_t(size), bytes.end());
  return order[1] == "True" ? turned(tensor) : tensor;
}

llvm::Error write_npy(const std::string &path, const Tensor &tensor) {
  const Tensor *source = &tensor;
  Tensor wide;
  if (tensor.type == ElementType::BF16) {
    wide = Tensor(ElementType::F32, tensor.shape);
    for (int64_t i = 0; i < element_count(tensor.shape); ++i)
      wide.as<uint32_t>()[i] = uint32_t(tensor.as<uint16_t>()[i]) << 16;
    source = &wide;
  }
  std::string shape;
  for (int64_t extent : source->shape)
    shape += std::to_string(extent) + ", ";
  if (source->shape.size() > 1)
    shape.resize(shape.size() - 2);
  else if (source->shape.size() == 1)
    shape.pop_back();
  std::string_view descr = element_types[unsigned(source->type)].numpy;
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   size_in_bytes(source->type) == 1 ? '|' : '<', descr, shape);
  while ((10 + header.size() + 1) % 64)
    header += ' ';
  header += '\n';
  std::string start(magic);
  start += {1, 0, char(header.size() & 255), char(header.size() >> 8)};
  return write_whole(path, start + header, {reinterpret_cast<const char *>(source->bytes.data()), source->bytes.size()});
}

llvm::Error write_text(const std::string &path, const std::string &text) { return write_whole(path, text, ""); }

} // namespace dougong
