// IEEE arithmetic of the scalar side: RISC-V's rounding modes and exception flags, NaN results canonical.
//
// The host's floating-point unit does the work: to nearest even needs nothing set, other modes set its control register for
// one operation. `flags` accrue RISC-V's bits: NV 16, DZ 8, OF 4, UF 2, NX 1.
#pragma once
#include <cstdint>

namespace dougong::sim::fp {

enum Rounding { rne = 0, rtz = 1, rdn = 2, rup = 3, rmm = 4 }; // 4: to nearest, ties away from zero

float add32(float, float, int rm, uint64_t &flags);
float sub32(float, float, int rm, uint64_t &flags);
float mul32(float, float, int rm, uint64_t &flags);
float div32(float, float, int rm, uint64_t &flags);
float sqrt32(float, int rm, uint64_t &flags);
float fma32(float, float, float, int rm, uint64_t &flags);
double add64(double, double, int rm, uint64_t &flags);
double sub64(double, double, int rm, uint64_t &flags);
double mul64(double, double, int rm, uint64_t &flags);
double div64(double, double, int rm, uint64_t &flags);
double sqrt64(double, int rm, uint64_t &flags);
double fma64(double, double, double, int rm, uint64_t &flags);

float min32(float, float, uint64_t &flags); // of a number and a NaN the number; -0 is less than +0
float max32(float, float, uint64_t &flags);
double min64(double, double, uint64_t &flags);
double max64(double, double, uint64_t &flags);
bool eq32(float, float, uint64_t &flags); // quiet; lt and le raise NV on any NaN
bool lt32(float, float, uint64_t &flags);
bool le32(float, float, uint64_t &flags);
bool eq64(double, double, uint64_t &flags);
bool lt64(double, double, uint64_t &flags);
bool le64(double, double, uint64_t &flags);
uint64_t classify32(float); // RISC-V's ten bits
uint64_t classify64(double);

float narrow(double, int rm, uint64_t &flags);
double widen(float, uint64_t &flags);
// Saturating; NaN gives the greatest value. Instantiated for int32_t, uint32_t, int64_t, uint64_t.
template <typename Int> Int to_int(float, int rm, uint64_t &flags);
template <typename Int> Int to_int(double, int rm, uint64_t &flags);
template <typename Float, typename Int> Float from_int(Int, int rm, uint64_t &flags);

} // namespace dougong::sim::fp
