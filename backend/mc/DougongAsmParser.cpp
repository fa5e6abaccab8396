// Reads assembly in the syntax of the GNU assembler for RISC-V, its pseudo instructions included.
#include "DougongConstant.h"
#include "DougongMCTargetDesc.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstBuilder.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCParser/AsmLexer.h"
#include "llvm/MC/MCParser/MCParsedAsmOperand.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace {

// A parsed operand: a token, a register, or an expression.
class DougongOperand : public MCParsedAsmOperand {
  enum { Token, Register, Expression } Kind;
  StringRef Text;
  MCRegister Reg;
  const MCExpr *Expr = nullptr;
  SMLoc Start, End;

public:
  static std::unique_ptr<DougongOperand> token(StringRef Text, SMLoc Start) {
    auto Op = std::make_unique<DougongOperand>();
    Op->Kind = Token, Op->Text = Text, Op->Start = Op->End = Start;
    return Op;
  }
  static std::unique_ptr<DougongOperand> reg(MCRegister Reg, SMLoc Start, SMLoc End) {
    auto Op = std::make_unique<DougongOperand>();
    Op->Kind = Register, Op->Reg = Reg, Op->Start = Start, Op->End = End;
    return Op;
  }
  static std::unique_ptr<DougongOperand> expr(const MCExpr *Expr, SMLoc Start, SMLoc End) {
    auto Op = std::make_unique<DougongOperand>();
    Op->Kind = Expression, Op->Expr = Expr, Op->Start = Start, Op->End = End;
    return Op;
  }

  bool isToken() const override { return Kind == Token; }
  bool isImm() const override { return Kind == Expression; }
  bool isReg() const override { return Kind == Register; }
  bool isMem() const override { return false; }
  MCRegister getReg() const override { return Reg; }
  StringRef getToken() const { return Text; }
  const MCExpr *getExpr() const { return Expr; }
  SMLoc getStartLoc() const override { return Start; }
  SMLoc getEndLoc() const override { return End; }
  void print(raw_ostream &OS, const MCAsmInfo &) const override {
    OS << (Kind == Token ? "token" : Kind == Register ? "register" : "expression");
  }

  // What a record's operand accepts; the names are the records'.
  bool isConstant(function_ref<bool(int64_t)> Fits) const {
    int64_t Value;
    return isImm() && Expr->evaluateAsAbsolute(Value) && Fits(Value);
  }
  bool hasSpecifier(std::initializer_list<unsigned> Allowed) const {
    const auto *Specified = isImm() ? dyn_cast<MCSpecifierExpr>(Expr) : nullptr;
    return Specified && is_contained(Allowed, Specified->getSpecifier());
  }
  bool isPlainSymbol() const { return isImm() && !isa<MCConstantExpr>(Expr) && !isa<MCSpecifierExpr>(Expr); }
  template <unsigned Width, unsigned Scale = 1> bool isSigned() const {
    return isConstant([](int64_t V) { return isInt<Width>(V) && V % Scale == 0; });
  }
  template <unsigned Width> bool isUnsigned() const {
    return isConstant([](int64_t V) { return isUInt<Width>(V); });
  }
  bool isDistance1() const { return isSigned<10>(); }
  bool isSImm12() const {
    return isSigned<12>() || hasSpecifier({ELF::R_RISCV_LO12_I, ELF::R_RISCV_PCREL_LO12_I, ELF::R_RISCV_TPREL_LO12_I});
  }
  bool isDistance2() const { return isSigned<11, 2>(); }
  bool isDistance4() const { return isSigned<12, 4>(); }
  bool isVectorDistance() const { return isSigned<14, 16>(); }
  bool isUImm1() const { return isUnsigned<1>(); }
  bool isUImm2() const { return isUnsigned<2>(); }
  bool isUImm3() const { return isUnsigned<3>(); }
  bool isUImm5() const { return isUnsigned<5>(); }
  bool isUImm6() const { return isUnsigned<6>(); }
  bool isUImm7() const { return isUnsigned<7>(); }
  bool isUImm20() const {
    return isUnsigned<20>() || hasSpecifier({ELF::R_RISCV_HI20, ELF::R_RISCV_PCREL_HI20, ELF::R_RISCV_GOT_HI20, ELF::R_RISCV_TPREL_HI20});
  }
  bool isQueue() const {
    return isConstant([](int64_t V) { return V >= 0 && V < 6; });
  }
  bool isBranchTarget() const { return isPlainSymbol() || isSigned<13, 2>(); }
  bool isJumpTarget() const { return isPlainSymbol() || isSigned<21, 2>(); }
  bool isCallTarget() const { return isPlainSymbol(); }
  bool isBareSymbol() const { return isPlainSymbol(); }
  bool isAnyConstant() const {
    return isConstant([](int64_t) { return true; });
  }
  bool isControlRegister() const { return isUnsigned<12>(); }
  bool isFenceSet() const { return isUnsigned<4>(); }
  bool isRounding() const { return isUnsigned<3>(); }
  bool isExactRounding() const { return isUnsigned<3>(); }

  void addRegOperands(MCInst &Inst, unsigned) const { Inst.addOperand(MCOperand::createReg(Reg)); }
  void addImmOperands(MCInst &Inst, unsigned) const {
    int64_t Value;
    if (Expr->evaluateAsAbsolute(Value))
      Inst.addOperand(MCOperand::createImm(Value));
    else
      Inst.addOperand(MCOperand::createExpr(Expr));
  }
};

class DougongAsmParser : public MCTargetAsmParser {
#define GET_ASSEMBLER_HEADER
#include "DougongGenAsmMatcher.inc"

public:
  enum DougongMatchResultTy {
    Match_Dummy = FIRST_TARGET_MATCH_RESULT_TY,
#define GET_OPERAND_DIAGNOSTIC_TYPES
#include "DougongGenAsmMatcher.inc"
  };

  DougongAsmParser(const MCSubtargetInfo &STI, MCAsmParser &Parser, const MCInstrInfo &MII, const MCTargetOptions &Options)
      : MCTargetAsmParser(Options, STI, MII) {
    MCAsmParserExtension::Initialize(Parser);
    Parser.addAliasForDirective(".half", ".2byte");
    Parser.addAliasForDirective(".hword", ".2byte");
    Parser.addAliasForDirective(".word", ".4byte");
    Parser.addAliasForDirective(".dword", ".8byte");
    setAvailableFeatures(ComputeAvailableFeatures(STI.getFeatureBits()));
  }

private:
  ParseStatus tryParseRegister(MCRegister &Reg, SMLoc &Start, SMLoc &End) override;
  bool parseRegister(MCRegister &Reg, SMLoc &Start, SMLoc &End) override;
  bool parseInstruction(ParseInstructionInfo &Info, StringRef Name, SMLoc NameLoc, OperandVector &Operands) override;
  bool matchAndEmitInstruction(SMLoc Loc, unsigned &Opcode, OperandVector &Operands, MCStreamer &Out, uint64_t &ErrorInfo, bool) override;
  ParseStatus parseDirective(AsmToken Directive) override;
  bool parsePrimaryExpr(const MCExpr *&Result, SMLoc &End) override;

  bool parseOperand(OperandVector &Operands, StringRef Mnemonic);
  bool parseParenthesisedRegister(OperandVector &Operands);
  ParseStatus parseControlRegister(OperandVector &Operands);
  ParseStatus parseFenceSet(OperandVector &Operands);
  ParseStatus parseRounding(OperandVector &Operands);
  std::unique_ptr<DougongOperand> defaultRounding() { return constant(7); }
  std::unique_ptr<DougongOperand> defaultExactRounding() { return constant(0); }
  std::unique_ptr<DougongOperand> constant(int64_t Value) {
    return DougongOperand::expr(MCConstantExpr::create(Value, getContext()), SMLoc(), SMLoc());
  }

  void emit(MCStreamer &Out, SMLoc Loc, MCInst Inst) {
    Inst.setLoc(Loc);
    Out.emitInstruction(Inst, getSTI());
  }
  void emitConstant(MCStreamer &Out, SMLoc Loc, MCRegister Reg, int64_t Value);
  void emitAddress(MCStreamer &Out, SMLoc Loc, MCRegister Reg, const MCExpr *Symbol);
};

} // namespace

#define GET_REGISTER_MATCHER
#define GET_MATCHER_IMPLEMENTATION
#define GET_MNEMONIC_SPELL_CHECKER
#include "DougongGenAsmMatcher.inc"

ParseStatus DougongAsmParser::tryParseRegister(MCRegister &Reg, SMLoc &Start, SMLoc &End) {
  const AsmToken &Tok = getLexer().getTok();
  if (Tok.isNot(AsmToken::Identifier))
    return ParseStatus::NoMatch;
  StringRef Name = Tok.getString();
  MCRegister Found = MatchRegisterName(Name);
  if (!Found)
    Found = MatchRegisterAltName(Name);
  if (!Found && Name == "fp")
    Found = Dougong::X8;
  if (!Found)
    return ParseStatus::NoMatch;
  Reg = Found;
  Start = Tok.getLoc(), End = Tok.getEndLoc();
  getLexer().Lex();
  return ParseStatus::Success;
}

bool DougongAsmParser::parseRegister(MCRegister &Reg, SMLoc &Start, SMLoc &End) {
  if (tryParseRegister(Reg, Start, End).isSuccess())
    return false;
  return Error(getLexer().getLoc(), "expected a register: x0 to x31, v0 to v31, m0 to m7, or an ABI name");
}

// %hi(expression): the specifier names the relocation.
bool DougongAsmParser::parsePrimaryExpr(const MCExpr *&Result, SMLoc &End) {
  if (getLexer().isNot(AsmToken::Percent))
    return getParser().parsePrimaryExpr(Result, End, nullptr);
  SMLoc Start = getLexer().getLoc();
  getLexer().Lex();
  unsigned Specifier = getLexer().is(AsmToken::Identifier) ? DougongSpecifier::fromName(getLexer().getTok().getString()) : 0;
  if (!Specifier)
    return Error(Start, "expected %hi, %lo, %pcrel_hi, %pcrel_lo, %got_pcrel_hi, %tprel_hi or %tprel_lo");
  getLexer().Lex();
  const MCExpr *Sub;
  if (parseToken(AsmToken::LParen, "expected '(' after the specifier") || getParser().parseParenExpression(Sub, End))
    return true;
  Result = MCSpecifierExpr::create(Sub, Specifier, getContext(), Start);
  return false;
}

bool DougongAsmParser::parseParenthesisedRegister(OperandVector &Operands) {
  SMLoc Open = getLexer().getLoc();
  getLexer().Lex();
  MCRegister Reg;
  SMLoc Start, End;
  if (parseRegister(Reg, Start, End))
    return true;
  Operands.push_back(DougongOperand::token("(", Open));
  Operands.push_back(DougongOperand::reg(Reg, Start, End));
  Operands.push_back(DougongOperand::token(")", getLexer().getLoc()));
  return parseToken(AsmToken::RParen, "expected ')' after the register");
}

// A register, an expression, or an address `distance(register)`, whose parentheses become tokens.
bool DougongAsmParser::parseOperand(OperandVector &Operands, StringRef Mnemonic) {
  if (ParseStatus Custom = MatchOperandParserImpl(Operands, Mnemonic, /*ParseForAllFeatures=*/true); !Custom.isNoMatch())
    return Custom.isFailure();
  MCRegister Reg;
  SMLoc Start, End;
  if (tryParseRegister(Reg, Start, End).isSuccess()) {
    Operands.push_back(DougongOperand::reg(Reg, Start, End));
    return false;
  }
  if (getLexer().is(AsmToken::LParen)) { // `(a0)`, unless it is the start of an expression
    StringRef Inside = getLexer().peekTok().getString();
    if (MatchRegisterName(Inside) || MatchRegisterAltName(Inside) || Inside == "fp")
      return parseParenthesisedRegister(Operands);
  }
  Start = getLexer().getLoc();
  const MCExpr *Expr;
  if (getParser().parseExpression(Expr, End))
    return true;
  Operands.push_back(DougongOperand::expr(Expr, Start, End));
  return getLexer().is(AsmToken::LParen) && parseParenthesisedRegister(Operands);
}

ParseStatus DougongAsmParser::parseControlRegister(OperandVector &Operands) {
  const AsmToken &Tok = getLexer().getTok();
  if (Tok.isNot(AsmToken::Identifier))
    return ParseStatus::NoMatch; // a number
  const auto *Found = Dougong::controlRegisterByName(Tok.getString());
  if (!Found)
    return ParseStatus::NoMatch;
  Operands.push_back(DougongOperand::expr(MCConstantExpr::create(Found->Number, getContext()), Tok.getLoc(), Tok.getEndLoc()));
  getLexer().Lex();
  return ParseStatus::Success;
}

ParseStatus DougongAsmParser::parseFenceSet(OperandVector &Operands) {
  const AsmToken &Tok = getLexer().getTok();
  if (Tok.isNot(AsmToken::Identifier))
    return ParseStatus::NoMatch;
  unsigned Set = 0;
  for (char C : Tok.getString()) {
    size_t Bit = StringRef("wroi").find(C);                  // w 1, r 2, o 4, i 8
    if (Bit == StringRef::npos || (Set & ((2u << Bit) - 1))) // unknown, or out of order
      return ParseStatus::NoMatch;
    Set |= 1u << Bit;
  }
  Operands.push_back(DougongOperand::expr(MCConstantExpr::create(Set, getContext()), Tok.getLoc(), Tok.getEndLoc()));
  getLexer().Lex();
  return ParseStatus::Success;
}

ParseStatus DougongAsmParser::parseRounding(OperandVector &Operands) {
  const AsmToken &Tok = getLexer().getTok();
  if (Tok.isNot(AsmToken::Identifier))
    return ParseStatus::NoMatch;
  int Mode = StringSwitch<int>(Tok.getString())
                 .Case("rne", 0)
                 .Case("rtz", 1)
                 .Case("rdn", 2)
                 .Case("rup", 3)
                 .Case("rmm", 4)
                 .Case("dyn", 7)
                 .Default(-1);
  if (Mode < 0)
    return ParseStatus::NoMatch;
  Operands.push_back(DougongOperand::expr(MCConstantExpr::create(Mode, getContext()), Tok.getLoc(), Tok.getEndLoc()));
  getLexer().Lex();
  return ParseStatus::Success;
}

bool DougongAsmParser::parseInstruction(ParseInstructionInfo &, StringRef Name, SMLoc NameLoc, OperandVector &Operands) {
  Operands.push_back(DougongOperand::token(Name, NameLoc));
  if (parseOptionalToken(AsmToken::EndOfStatement))
    return false;
  do {
    if (parseOperand(Operands, Name))
      return true;
  } while (parseOptionalToken(AsmToken::Comma));
  if (parseOptionalToken(AsmToken::EndOfStatement))
    return false;
  SMLoc Loc = getLexer().getLoc();
  getParser().eatToEndOfStatement();
  return Error(Loc, "expected a comma or the end of the line");
}

void DougongAsmParser::emitConstant(MCStreamer &Out, SMLoc Loc, MCRegister Reg, int64_t Value) {
  MCRegister From = Dougong::X0;
  for (const DougongConstant::Step &Step : DougongConstant::steps(Value)) {
    MCInstBuilder Inst(Step.Opcode);
    Inst.addReg(Reg);
    if (Step.Opcode != Dougong::LUI)
      Inst.addReg(From);
    emit(Out, Loc, Inst.addImm(Step.Immediate));
    From = Reg;
  }
}

// label: auipc reg, %pcrel_hi(symbol); addi reg, reg, %pcrel_lo(label)
void DougongAsmParser::emitAddress(MCStreamer &Out, SMLoc Loc, MCRegister Reg, const MCExpr *Symbol) {
  MCContext &Ctx = getContext();
  MCSymbol *Label = Ctx.createNamedTempSymbol("pcrel_hi");
  Out.emitLabel(Label);
  emit(Out, Loc, MCInstBuilder(Dougong::AUIPC).addReg(Reg).addExpr(MCSpecifierExpr::create(Symbol, ELF::R_RISCV_PCREL_HI20, Ctx)));
  emit(Out, Loc,
       MCInstBuilder(Dougong::ADDI).addReg(Reg).addReg(Reg).addExpr(MCSpecifierExpr::create(Label, ELF::R_RISCV_PCREL_LO12_I, Ctx)));
}

bool DougongAsmParser::matchAndEmitInstruction(SMLoc Loc, unsigned &, OperandVector &Operands, MCStreamer &Out, uint64_t &ErrorInfo,
                                               bool Inline) {
  MCInst Inst;
  unsigned Result = MatchInstructionImpl(Operands, Inst, ErrorInfo, Inline);
  StringRef Mnemonic = static_cast<DougongOperand &>(*Operands[0]).getToken();
  auto Place = [&] {
    SMLoc At = ErrorInfo < Operands.size() ? Operands[ErrorInfo]->getStartLoc() : SMLoc();
    return At.isValid() ? At : Loc;
  };
  switch (Result) {
  case Match_Success:
    switch (Inst.getOpcode()) {
    case Dougong::PseudoLI:
      emitConstant(Out, Loc, Inst.getOperand(0).getReg(), Inst.getOperand(1).getImm());
      return false;
    case Dougong::PseudoLLA:
    case Dougong::PseudoLA:
      emitAddress(Out, Loc, Inst.getOperand(0).getReg(), Inst.getOperand(1).getExpr());
      return false;
    default:
      emit(Out, Loc, Inst);
      return false;
    }
  case Match_MnemonicFail:
    return Error(Loc, "unknown instruction `" + Mnemonic + "`" + DougongMnemonicSpellCheck(Mnemonic, getAvailableFeatures(), 0));
  case Match_InvalidOperand:
    if (ErrorInfo != ~0ull && ErrorInfo >= Operands.size())
      return Error(Loc, "too few operands for `" + Mnemonic + "`");
    return Error(Place(), "no form of `" + Mnemonic + "` takes this operand here");
  default:
    if (const char *Expected = getMatchKindDiag(DougongMatchResultTy(Result))) {
      if (ErrorInfo != ~0ull && ErrorInfo >= Operands.size())
        return Error(Loc, "too few operands for `" + Mnemonic + "`");
      return Error(Place(), Expected);
    }
    return Error(Place(), "these operands do not fit `" + Mnemonic + "`");
  }
}

// .option and .attribute speak of linker relaxation, compressed code and ISA strings: nothing that changes our code.
ParseStatus DougongAsmParser::parseDirective(AsmToken Directive) {
  StringRef Name = Directive.getString();
  if (Name == ".option") {
    static constexpr StringLiteral Known[] = {"push", "pop", "relax", "norelax", "rvc", "norvc", "pic", "nopic", "arch"};
    if (!is_contained(Known, getLexer().getTok().getString()))
      return Error(getLexer().getLoc(), "expected push, pop, relax, norelax, rvc, norvc, pic, nopic or arch");
    getParser().eatToEndOfStatement();
    return ParseStatus::Success;
  }
  if (Name == ".attribute") {
    getParser().eatToEndOfStatement();
    return ParseStatus::Success;
  }
  return ParseStatus::NoMatch;
}

MCTargetAsmParser *llvm::createDougongAsmParser(const MCSubtargetInfo &STI, MCAsmParser &P, const MCInstrInfo &MII,
                                                const MCTargetOptions &Options) {
  return new DougongAsmParser(STI, P, MII, Options);
}
