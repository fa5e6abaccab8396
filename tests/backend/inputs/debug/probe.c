#include "probe.h"
volatile int reached;
void probe(int where) { reached = where; }
