// Source lines of device code, for faults: DWARF through LLVM. A file of its own, as LLVM's headers are large.
#include "sim/elf.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

namespace dougong::sim {

std::string source_line(std::string_view elf, uint64_t address) {
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(llvm::StringRef(elf.data(), elf.size()), "program"));
  if (!object) {
    llvm::consumeError(object.takeError());
    return "";
  }
  auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  auto context = llvm::DWARFContext::create(**object, llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr, "", ignore, ignore);
  llvm::DILineInfoSpecifier wanted(llvm::DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath,
                                   llvm::DILineInfoSpecifier::FunctionNameKind::None);
  auto line = context->getLineInfoForAddress({address, llvm::object::SectionedAddress::UndefSection}, wanted);
  if (!line || line->FileName == llvm::DILineInfo::BadString || line->Line == 0)
    return "";
  return line->FileName + ":" + std::to_string(line->Line);
}

} // namespace dougong::sim
