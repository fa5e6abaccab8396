// See constants.h. Equal hashes are not trusted: the bytes are compared where they stand.
#include "runtime/constants.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>

namespace dougong {

llvm::Expected<std::shared_ptr<const SharedConstants::Constant>> SharedConstants::place(const std::shared_ptr<Device> &memory,
                                                                                        std::span<const uint8_t> bytes) {
  Key key(memory.get(), llvm::xxh3_64bits(llvm::ArrayRef(bytes.data(), bytes.size())));
  for (auto [entry, end] = known.equal_range(key); entry != end;) {
    std::shared_ptr<const Constant> constant = entry->second.lock();
    if (!constant) { // freed with the last that held it
      entry = known.erase(entry);
      continue;
    }
    if (constant->bytes == bytes.size()) {
      auto there = memory->map(constant->address, constant->bytes);
      if (!there)
        return there.takeError();
      if (std::equal(bytes.begin(), bytes.end(), *there))
        return constant;
    }
    ++entry;
  }
  auto address = memory->allocate(bytes.size());
  if (!address)
    return address.takeError();
  auto constant = std::make_shared<const Constant>(memory, *address, bytes.size());
  if (llvm::Error error = memory->copy_in(*address, bytes.data(), bytes.size()))
    return error;
  known.emplace(key, constant);
  return constant;
}

} // namespace dougong
