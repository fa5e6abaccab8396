// Gives the precompiled header of MLIR a translation unit to be built with.
