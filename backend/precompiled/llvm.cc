// Exists so that precompiled/llvm.h is compiled once and shared by the libraries of backend/.
