/* A place to stop: everything before the call has happened, nothing after it. */
__attribute__((noinline)) void probe(int where);
