// Scalar arithmetic as C++ expressions: `select(x > 0, x, alpha * (exp(x) - 1))` writes the arith and math operations of a
// linalg body. The element type decides what an operator means: float, signed or unsigned.
#pragma once
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Value.h"
#include "models/host_tensor.h"

namespace dougong::models {

struct Scalar {
  mlir::ImplicitLocOpBuilder *builder = nullptr;
  mlir::Value value;
  ElementType type = ElementType::F32;
  bool index = false; // MLIR's index type; `type` says I64 then

  Scalar like(double number) const; // a constant of this type
  Scalar like_integer(int64_t number) const;
  Scalar with(mlir::Value other) const { return {builder, other, type, index}; }
};

Scalar operator+(Scalar a, Scalar b);
Scalar operator-(Scalar a, Scalar b);
Scalar operator*(Scalar a, Scalar b);
Scalar operator/(Scalar a, Scalar b); // integers: towards zero
Scalar operator-(Scalar a);
inline Scalar operator+(Scalar a, double b) { return a + a.like(b); }
inline Scalar operator-(Scalar a, double b) { return a - a.like(b); }
inline Scalar operator*(Scalar a, double b) { return a * a.like(b); }
inline Scalar operator/(Scalar a, double b) { return a / a.like(b); }
inline Scalar operator*(double a, Scalar b) { return b.like(a) * b; }
inline Scalar operator-(double a, Scalar b) { return b.like(a) - b; }
inline Scalar operator/(double a, Scalar b) { return b.like(a) / b; }
Scalar remainder(Scalar a, Scalar b);    // sign of the dividend, as C's % and fmod
Scalar floor_modulo(Scalar a, Scalar b); // sign of the divisor, as Python's %

// Bool results. Comparisons with NaN are false, but for `!=`.
Scalar operator<(Scalar a, Scalar b);
Scalar operator<=(Scalar a, Scalar b);
Scalar operator>(Scalar a, Scalar b);
Scalar operator>=(Scalar a, Scalar b);
Scalar operator==(Scalar a, Scalar b);
Scalar operator!=(Scalar a, Scalar b);
inline Scalar operator<(Scalar a, double b) { return a < a.like(b); }
inline Scalar operator>(Scalar a, double b) { return a > a.like(b); }
inline Scalar operator>=(Scalar a, double b) { return a >= a.like(b); }
inline Scalar operator<=(Scalar a, double b) { return a <= a.like(b); }
inline Scalar operator==(Scalar a, double b) { return a == a.like(b); }

// Bool and integers, bit by bit.
Scalar operator&(Scalar a, Scalar b);
Scalar operator|(Scalar a, Scalar b);
Scalar operator^(Scalar a, Scalar b);
Scalar operator~(Scalar a);
Scalar shift_left(Scalar a, Scalar b);
Scalar shift_right(Scalar a, Scalar b);

Scalar select(Scalar condition, Scalar a, Scalar b);
Scalar minimum(Scalar a, Scalar b); // NaN if either is
Scalar maximum(Scalar a, Scalar b);
inline Scalar clamp(Scalar x, double low, double high) { return minimum(maximum(x, x.like(low)), x.like(high)); }

Scalar abs(Scalar a);
Scalar exp(Scalar a);
Scalar log(Scalar a);
Scalar log1p(Scalar a);
Scalar sqrt(Scalar a);
Scalar tanh(Scalar a);
Scalar erf(Scalar a);
Scalar sin(Scalar a);
Scalar cos(Scalar a);
Scalar tan(Scalar a);
Scalar asin(Scalar a);
Scalar acos(Scalar a);
Scalar atan(Scalar a);
Scalar sinh(Scalar a);
Scalar cosh(Scalar a);
Scalar asinh(Scalar a);
Scalar acosh(Scalar a);
Scalar atanh(Scalar a);
Scalar floor(Scalar a);
Scalar ceil(Scalar a);
Scalar round_even(Scalar a);
Scalar pow(Scalar a, Scalar b);

// As ONNX's Cast: floats to integers towards zero, anything to bool by "is not zero".
Scalar convert(Scalar a, ElementType type);
Scalar convert_to_index(Scalar a);
Scalar convert_from_index(Scalar a, ElementType type);

mlir::Type mlir_type(mlir::MLIRContext *context, ElementType type);
Scalar constant(mlir::ImplicitLocOpBuilder &builder, ElementType type, double value);
Scalar constant_element(mlir::ImplicitLocOpBuilder &builder, const Tensor &tensor, int64_t i);

} // namespace dougong::models
