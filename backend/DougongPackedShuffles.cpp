// Shuffles of packed lanes, a register of the result at a time. See DougongPackedLanes.h.
//
//   whole registers move                 nothing
//   lanes of two registers in turn       vzip; every other lane of two: vunzip
//   any lanes of one register            vperm
//   any lanes of two                     vperm of each, and a select
#include "DougongPackedLanes.h"
#include "DougongSubtarget.h"

using namespace llvm;
using namespace llvm::packed;

// Whether lane i comes from `Expected(i)`, or is poison, for all.
static bool matches(ArrayRef<int> Lanes, function_ref<int(int)> Expected) {
  for (int I = 0; I < int(Lanes.size()); ++I)
    if (Lanes[I] >= 0 && Lanes[I] != Expected(I))
      return false;
  return true;
}

// One register of N lanes is lane b + a * i of another, mod N: then its indices are written so that they count on and do not wrap, which
// makes four bytes, or two halves, of the constant a word that counts on too, and cheap to make. Poison lanes join.
static void straighten(SmallVectorImpl<int> &Lanes) {
  int N = Lanes.size();
  for (int Step : {1, -1, 2, -2, 3, -3, 4, -4}) {
    if (N == 128 && std::abs(Step) != 1) // bytes would wrap
      break;
    for (int Start = 0; Start < N; ++Start)
      if (matches(Lanes, [&](int I) { return ((Start + Step * I) % N + N) % N; })) {
        for (int I = 0; I < N; ++I)
          Lanes[I] = Start + Step * I + (Step < 0 ? N * -Step : 0);
        return;
      }
  }
  for (int &Lane : Lanes)
    Lane = std::max(Lane, 0);
}

SmallVector<RegisterShuffle, 4> packed::registersOf(const ShuffleVectorInst &I) {
  Shape S = *shapeOf(I.getType());
  int N = 1024 / S.Width, Half = N / 2;
  SmallVector<RegisterShuffle, 4> Registers;
  for (unsigned Register = 0; Register < S.Registers; ++Register) {
    ArrayRef<int> Mask = I.getShuffleMask().slice(Register * N, N);
    RegisterShuffle R;
    for (int Lane : Mask) {
      if (Lane < 0)
        continue;
      if (R.First < 0)
        R.First = Lane / N;
      else if (Lane / N != R.First && R.Second < 0)
        R.Second = Lane / N;
      if (Lane / N != R.First && Lane / N != R.Second)
        return {};
    }
    for (int Lane : Mask)
      R.Lanes.push_back(Lane < 0 ? -1 : Lane % N + (Lane / N == R.First ? 0 : N));
    bool Bytes = S.Width == 8;
    if (R.First < 0 || matches(R.Lanes, [](int Lane) { return Lane; })) {
      R.Lanes.clear();
    } else {
      for (int Upper : {0, 1}) // with one source its lanes go to both places
        for (int Other : {0, R.Second < 0 ? 0 : N}) {
          bool Zips = matches(R.Lanes, [&](int Lane) { return Lane / 2 + Half * Upper + (Lane % 2 ? Other : 0); });
          bool Unzips = matches(R.Lanes, [&](int Lane) { return Lane % Half * 2 + Upper + (Lane < Half ? 0 : Other); });
          if (Zips || Unzips) {
            R.Record = Zips ? (Bytes ? Dougong::VZIP_8 : Dougong::VZIP_16) : Bytes ? Dougong::VUNZIP_8 : Dougong::VUNZIP_16;
            R.Immediate = Upper;
            R.Second = Other ? R.Second : R.First;
          }
        }
      if (R.Record)
        R.Lanes.clear();
      else if (R.Second < 0)
        straighten(R.Lanes);
      else
        for (int &Lane : R.Lanes)
          Lane = std::max(Lane, 0);
    }
    Registers.push_back(R);
  }
  return Registers;
}
