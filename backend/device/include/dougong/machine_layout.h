/* The address map: the one definition, isa/machine_layout.h. */
#include "../../../../isa/machine_layout.h"
