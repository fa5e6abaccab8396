// Small kernels for the runtime's tests, as an image for any device: one LLVM IR text, through the host's code generator or ours.
#pragma once
#include <string>

// Kernels, with launch slots a, b, c, …; `p` is the program:
//   scale_add(in, out, n)   out[p] = in[p] * 3 + n                       (i32)
//   append(log, n)          log[++log[0]] = n                            (i32; one program)
//   poke(address)           stores to the address it is given
//   add_f32(a, b, out)      out[p] = a[p] + b[p]                         (f32)
std::string kernel_image(const std::string &kind); // "cpu", "npu", "null"
