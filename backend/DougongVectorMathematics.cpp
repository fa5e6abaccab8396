// Sines, powers and remainders of vectors of f32, which the C library computes one lane at a time, hundreds of instructions each.
//
// sin |x|   |x| = m * 2^e; the bits of 2/pi from that place on where m * 2^e still counts modulo 4 are looked up, 96 of them. Their product
//           with m is |x| in quarter turns: the whole ones say which of sine and cosine it is and with what sign, what is left (in f32 and
//           a remainder) is the argument of a polynomial. (Payne and Hanek's reduction: nothing is lost however large x is.)
// x % y     both as numbers of [1, 2) times a power of 2; in each round of a loop the difference of exponents falls by 23, and x is
//           replaced by what it lacks of the nearest multiple of y, which f32 holds exactly. One round unless x is 2^23 times y.
// x ^ y     2 to the power of y * log2 |x|; the logarithm, and what follows, in f32 and a remainder, since the power's size turns its last
//           bits into leading ones: log2 (m * 2^e) = e + 2 / ln 2 * artanh s, s = (m - 1) / (m + 1), m within 1 / sqrt 2 and sqrt 2.
//
// Polynomials are least in the greatest relative error, that of sine and cosine 2^-27, with coefficients rounded to f32, the smaller ones
// to what one instruction loads. A constant in all lanes costs two or three instructions: where several would do, one that is there already
// is taken.
#include "DougongVectorMathematics.h"
#include "DougongPackedLanes.h"

using namespace llvm;

namespace {

struct Lanes {
  IRBuilder<> &B;
  Type *Words, *Floats;

  Lanes(IRBuilder<> &B, unsigned Count)
      : B(B), Words(FixedVectorType::get(B.getInt32Ty(), Count)), Floats(FixedVectorType::get(B.getFloatTy(), Count)) {}

  Constant *word(uint32_t Value) { return ConstantInt::get(Words, Value); }
  Constant *number(double Value) { return ConstantFP::get(Floats, Value); }
  Value *bits(Value *X) { return B.CreateBitCast(X, Words); }
  Value *ofBits(Value *X) { return B.CreateBitCast(X, Floats); }
  Value *fma(Value *A, Value *C, Value *D) { return B.CreateIntrinsic(Intrinsic::fma, {Floats}, {A, C, D}); }
  Value *call(StringRef Record, Value *A, Value *C) { return packed::callInstruction(B, Record, {A, C}, Words); }
  // a polynomial in x, the last coefficient first
  Value *polynomial(Value *X, ArrayRef<double> Coefficients) {
    Value *Sum = number(Coefficients[0]);
    for (double C : Coefficients.drop_front())
      Sum = fma(Sum, X, number(C));
    return Sum;
  }
};

// |x| in quarter turns: `Turns` whole ones (modulo 4), and the rest, which is at most a half, as Angle + Tail in radians.
struct Reduced {
  Value *Turns, *Angle, *Tail;
};

Reduced reduce(Lanes &L, Value *X) {
  IRBuilder<> &B = L.B;
  // 2/pi after 160 zeros: the bits for an exponent field of e begin at bit e.
  constexpr uint32_t Bits[] = {0, 0, 0, 0, 0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041};
  Value *Table = L.word(0);
  for (unsigned I = 5; I < std::size(Bits); ++I) // cheaper than a constant
    Table = packed::callInstruction(B, "VINSERT_I", {Table, B.getInt64(int32_t(Bits[I])), B.getInt64(I)}, L.Words);
  Value *Size = B.CreateUnaryIntrinsic(Intrinsic::fabs, X), *Exponent = B.CreateLShr(L.bits(Size), 23);
  Value *Mantissa = B.CreateOr(B.CreateShl(L.bits(X), 8), L.word(1u << 31));
  Value *Place = B.CreateLShr(Exponent, 5), *Opposite = B.CreateNot(Exponent), *Words[4], *Window[3];
  for (Value *&Word : Words) {
    Word = L.call("VPERM", Table, Place);
    Place = L.call("VADD_I32", Place, L.word(1)); // LLVM would add 1, 2 and 3
  }
  for (int I = 0; I < 3; ++I) // shifts are modulo 32
    Window[I] = B.CreateOr(L.call("VSLL_I32", Words[I], Exponent), L.call("VSRL_I32", B.CreateLShr(Words[I + 1], 1), Opposite));
  // The product's upper 64 of 96 bits: 2 of whole turns and 62 of the rest.
  Value *High2 = L.call("VMULH_U32", Mantissa, Window[2]), *High1 = L.call("VMULH_U32", Mantissa, Window[1]);
  Value *Middle = B.CreateAdd(B.CreateMul(Mantissa, Window[1]), High2), *Top = B.CreateAdd(B.CreateMul(Mantissa, Window[0]), High1);
  Top = B.CreateSelect(B.CreateICmpULT(Middle, High2), B.CreateAdd(Top, L.word(1)), Top);
  Value *Turns = B.CreateLShr(B.CreateAdd(B.CreateLShr(Top, 29), L.word(1)), 1); // of 4 and more: not looked at
  // The rest, less whole turns, in units of 2^-32: a signed number, a multiple of 4, and the next 32 bits. (No f32 is closer than 4 of
  // these to whole turns.)
  Value *High = B.CreateShl(Top, 2), *Rest = B.CreateSIToFP(High, L.Floats);
  Value *Lost = B.CreateSub(High, B.CreateIntrinsic(Intrinsic::fptosi_sat, {L.Words, L.Floats}, {Rest}));
  Constant *Unit = L.number(0x1p-30);
  Value *More = L.fma(X, L.number(0), B.CreateSIToFP(Lost, L.Floats)); // NaN of infinities
  More = L.fma(B.CreateUIToFP(Middle, L.Floats), Unit, More);
  Constant *Quarter = L.number(0x1.921fb6p-32), *QuarterTail = L.number(-0x1.777a5cp-57); // pi/2 of these units
  Value *Angle = B.CreateFMul(Rest, Quarter);
  Value *Tail = L.fma(Rest, Quarter, B.CreateFNeg(Angle));
  Tail = L.fma(More, Quarter, L.fma(Rest, QuarterTail, Tail));
  // Smaller ones would have too few bits in the window, and need no turn.
  Value *Small = B.CreateFCmpOLT(Size, Unit);
  return {Turns, B.CreateSelect(Small, Size, Angle), B.CreateSelect(Small, L.number(0), Tail)};
}

} // namespace

Value *llvm::vectorSine(IRBuilder<> &B, Intrinsic::ID Which, Value *X) {
  Lanes L(B, 32);
  auto [Turns, Angle, Tail] = reduce(L, X);
  Value *Square = B.CreateFMul(Angle, Angle);
  // a + (a^3 p + t)
  Value *P = L.polynomial(Square, {-0x1.994p-13, 0x1.110736p-7, -0x1.555546p-3});
  Value *Sine = B.CreateFAdd(Angle, L.fma(B.CreateFMul(Angle, Square), P, Tail));
  // 1 + (a^2 (-1/2 + a^2 q) - a t)
  Value *Q = L.polynomial(Square, {0x1.99ep-16, -0x1.6cp-10, 0x1.555514p-5, -0.5});
  Value *Cosine = B.CreateFAdd(L.number(1), L.fma(Square, Q, B.CreateFNeg(B.CreateFMul(Angle, Tail))));
  if (Which == Intrinsic::cos)
    Turns = B.CreateAdd(Turns, L.word(1));
  Value *Odd = B.CreateICmpNE(B.CreateAnd(Turns, L.word(1)), L.word(0)), *Result = B.CreateSelect(Odd, Cosine, Sine), *Negative;
  if (Which == Intrinsic::tan) {
    Result = B.CreateFDiv(Result, B.CreateSelect(Odd, Sine, Cosine));
    Negative = B.CreateShl(Turns, 31);
  } else {
    Negative = B.CreateShl(B.CreateLShr(Turns, 1), 31);
  }
  if (Which != Intrinsic::cos)
    Negative = B.CreateXor(Negative, B.CreateAnd(L.bits(X), L.word(1u << 31)));
  return L.ofBits(B.CreateXor(L.bits(Result), Negative));
}

Value *llvm::vectorPower(IRBuilder<> &B, Value *X, Value *Y) {
  Lanes L(B, cast<FixedVectorType>(X->getType())->getNumElements());
  Constant *One = L.number(1), *Infinity = ConstantFP::getInfinity(L.Floats), *Zero = L.number(0);
  Value *Size = B.CreateUnaryIntrinsic(Intrinsic::fabs, X);
  Value *Small = B.CreateFCmpOLT(Size, L.number(0x1p-126));
  Value *Bits = L.bits(B.CreateSelect(Small, B.CreateFMul(Size, L.number(0x1p24)), Size));
  Value *Exponent = B.CreateAShr(B.CreateSub(Bits, L.word(0x3f3504f3)), 23);
  Value *Mantissa = L.ofBits(B.CreateSub(Bits, B.CreateShl(Exponent, 23)));
  Value *Whole = B.CreateFSub(B.CreateSIToFP(Exponent, L.Floats), B.CreateSelect(Small, L.number(24), Zero));
  // s and what it lacks
  Value *Above = B.CreateFSub(Mantissa, One), *Sum = B.CreateFAdd(Mantissa, One);
  Value *SumTail = B.CreateFSub(Mantissa, B.CreateFSub(Sum, One)), *Inverse = B.CreateFDiv(One, Sum), *S = B.CreateFMul(Above, Inverse);
  Value *Minus = B.CreateFNeg(S), *STail = B.CreateFMul(L.fma(Minus, SumTail, L.fma(Minus, Sum, Above)), Inverse);
  // log2 m = Part + PartTail
  Constant *Factor = L.number(0x1.715476p+1), *FactorTail = L.number(0x1.4ae0cp-25); // 2 / ln 2
  Value *Linear = B.CreateFMul(S, Factor);
  Value *LinearTail = L.fma(STail, Factor, L.fma(S, FactorTail, L.fma(S, Factor, B.CreateFNeg(Linear))));
  Value *Square = B.CreateFMul(S, S), *SquareTail = L.fma(S, S, B.CreateFNeg(Square));
  Value *Cube = B.CreateFMul(S, Square), *CubeTail = L.fma(S, Square, B.CreateFNeg(Cube));
  CubeTail = L.fma(B.CreateFMul(Square, L.number(3)), STail, L.fma(S, SquareTail, CubeTail));
  Constant *First = L.number(0x1.ec709ep-1); // 2 / (3 ln 2)
  Value *Higher = B.CreateFMul(Square, L.polynomial(Square, {0x1.58a26p-2, 0x1.a5cf74p-2, 0x1.2776e2p-1}));
  Value *Series = B.CreateFAdd(First, Higher), *SeriesTail = B.CreateFSub(Higher, B.CreateFSub(Series, First));
  Value *Rest = B.CreateFMul(Cube, Series), *RestTail = L.fma(Cube, Series, B.CreateFNeg(Rest));
  RestTail = L.fma(Cube, SeriesTail, L.fma(CubeTail, Series, RestTail));
  Value *Part = B.CreateFAdd(Linear, Rest);
  Value *PartTail = B.CreateFAdd(B.CreateFSub(Rest, B.CreateFSub(Part, Linear)), B.CreateFAdd(LinearTail, RestTail));
  Value *Log = B.CreateFAdd(Whole, Part), *LogTail = B.CreateFAdd(B.CreateFSub(Part, B.CreateFSub(Log, Whole)), PartTail);
  Log = B.CreateSelect(B.CreateFCmpOEQ(Size, Zero), ConstantFP::getInfinity(L.Floats, true), Log);
  Log = B.CreateSelect(B.CreateFCmpOEQ(Size, Infinity), Infinity, Log);
  // The exponent of the result, and its remainder; beyond 160 the result is 0 or infinite whatever it is.
  Value *Power = B.CreateFMul(Y, Log), *PowerTail = L.fma(Y, LogTail, L.fma(Y, Log, B.CreateFNeg(Power)));
  Value *Within = B.CreateFCmpOLT(B.CreateUnaryIntrinsic(Intrinsic::fabs, Power), L.number(160));
  PowerTail = B.CreateSelect(Within, PowerTail, Zero);
  Power = B.CreateSelect(Within, Power, B.CreateBinaryIntrinsic(Intrinsic::copysign, L.number(160), Power));
  Value *Rounded = B.CreateUnaryIntrinsic(Intrinsic::rint, Power);
  Value *Fraction = B.CreateUnaryIntrinsic(Intrinsic::exp2, B.CreateFAdd(B.CreateFSub(Power, Rounded), PowerTail));
  Value *Shift = B.CreateFPToSI(Rounded, L.Words), *Half = B.CreateAShr(Shift, 1);
  auto Scaled = [&](Value *V, Value *By) { return B.CreateFMul(V, L.ofBits(B.CreateAdd(B.CreateShl(By, 23), L.word(0x3f800000)))); };
  Value *Result = Scaled(Scaled(Fraction, Half), B.CreateSub(Shift, Half)); // in two steps: 2^160 is no f32
  Result = B.CreateSelect(B.CreateFCmpOEQ(Size, One), One, Result);
  // A negative x: odd y keep its sign, y that are not whole have no power unless x is infinite.
  Value *HalfY = B.CreateFMul(Y, L.number(0.5)), *IsWhole = B.CreateFCmpOEQ(B.CreateUnaryIntrinsic(Intrinsic::trunc, Y), Y);
  Value *IsOdd = B.CreateAnd(IsWhole, B.CreateFCmpONE(B.CreateUnaryIntrinsic(Intrinsic::trunc, HalfY), HalfY));
  Value *Sign = B.CreateAnd(L.bits(X), B.CreateSelect(IsOdd, L.word(1u << 31), L.word(0)));
  Result = L.ofBits(B.CreateXor(L.bits(Result), Sign));
  Value *Nothing = B.CreateAnd(B.CreateAnd(B.CreateFCmpOLT(X, Zero), B.CreateFCmpONE(Size, Infinity)), B.CreateNot(IsWhole));
  Nothing = B.CreateOr(Nothing, B.CreateFCmpUNO(X, Y));
  Result = B.CreateSelect(Nothing, ConstantFP::getNaN(L.Floats), Result);
  return B.CreateSelect(B.CreateOr(B.CreateFCmpOEQ(X, One), B.CreateFCmpOEQ(Y, Zero)), One, Result);
}

// before: ... Before ...   after: ...; a block that runs once, or ⌈difference of exponents / 23⌉ times; ... Before ...
Value *llvm::vectorRemainder(Instruction &Before, Value *X, Value *Y) {
  IRBuilder<> B(&Before);
  Lanes L(B, cast<FixedVectorType>(X->getType())->getNumElements());
  auto Split = [&](Value *Size) -> std::pair<Value *, Value *> { // exponent and mantissa, also of subnormals
    Value *Small = B.CreateICmpULT(L.bits(Size), L.word(0x800000));
    Value *Bits = L.bits(B.CreateSelect(Small, B.CreateFMul(Size, L.number(0x1p24)), Size));
    Value *Exponent = B.CreateSub(B.CreateLShr(Bits, 23), B.CreateSelect(Small, L.word(24), L.word(0)));
    return {Exponent, L.ofBits(B.CreateOr(B.CreateAnd(Bits, L.word(0x7fffff)), L.word(0x3f800000)))};
  };
  Value *XSize = B.CreateIntrinsic(Intrinsic::fabs, {L.Floats}, {X}), *YSize = B.CreateIntrinsic(Intrinsic::fabs, {L.Floats}, {Y});
  auto [XExponent, XMantissa] = Split(XSize);
  auto [YExponent, YMantissa] = Split(YSize);
  Value *Apart = B.CreateBinaryIntrinsic(Intrinsic::smax, B.CreateSub(XExponent, YExponent), L.word(0));
  Value *Most = B.CreateUnaryIntrinsic(Intrinsic::vector_reduce_smax, Apart);
  Value *Rounds = B.CreateBinaryIntrinsic(Intrinsic::umax, B.CreateUDiv(B.CreateAdd(Most, B.getInt32(22)), B.getInt32(23)), B.getInt32(1));
  Value *Steps = B.CreateShl(Apart, 23); // as part of an exponent

  BasicBlock *Start = Before.getParent(), *End = Start->splitBasicBlock(&Before);
  BasicBlock *Round = BasicBlock::Create(B.getContext(), "round", Start->getParent(), End);
  Start->getTerminator()->setSuccessor(0, Round);
  B.SetInsertPoint(Round);
  PHINode *Left = B.CreatePHI(B.getInt32Ty(), 2), *Ahead = B.CreatePHI(L.Words, 2), *Rest = B.CreatePHI(L.Floats, 2);
  Value *Step = B.CreateBinaryIntrinsic(Intrinsic::umin, Ahead, L.word(23u << 23));
  Value *Scaled = B.CreateFMul(Rest, L.ofBits(B.CreateAdd(Step, L.word(0x3f800000))));
  // The quotient is below 2^24 and wrong by 1/2 at most: its whole number times y and what is left are exact.
  Value *Quotient = B.CreateUnaryIntrinsic(Intrinsic::rint, B.CreateFDiv(Scaled, YMantissa));
  Value *Next = L.fma(B.CreateFNeg(Quotient), YMantissa, Scaled), *Fewer = B.CreateSub(Left, B.getInt32(1));
  Value *Nearer = B.CreateSub(Ahead, Step);
  B.CreateCondBr(B.CreateICmpNE(Fewer, B.getInt32(0)), Round, End);
  Left->addIncoming(Rounds, Start), Left->addIncoming(Fewer, Round);
  Ahead->addIncoming(Steps, Start), Ahead->addIncoming(Nearer, Round);
  Rest->addIncoming(XMantissa, Start), Rest->addIncoming(Next, Round);

  B.SetInsertPoint(&Before);
  Value *Positive = B.CreateSelect(B.CreateFCmpOLT(Next, L.number(0)), B.CreateFAdd(Next, YMantissa), Next);
  Value *Size = B.CreateFMul(Positive, B.CreateFDiv(YSize, YMantissa)); // by a power of 2
  Size = B.CreateFAdd(Size, B.CreateFDiv(B.CreateFSub(X, X), Y));       // NaN if x is infinite or NaN, or y is 0 or NaN
  Value *Result = B.CreateBinaryIntrinsic(Intrinsic::copysign, Size, X);
  return B.CreateSelect(B.CreateFCmpOLT(XSize, YSize), X, Result);
}
