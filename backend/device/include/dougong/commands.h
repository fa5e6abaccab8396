/* The engines' commands: the one definition, isa/commands.h. */
#include "../../../../isa/commands.h"
