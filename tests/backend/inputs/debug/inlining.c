// Functions inlined into each other, with variables of their own.
#include "probe.h"
static inline int square(int v) {
  int result = v * v;
  probe(result);
  return result;
}
static inline int distance(int x, int y) {
  int dx = square(x), dy = square(y);
  probe(dx + dy);
  return dx + dy;
}
__attribute__((always_inline)) static inline long weigh(const int *values, int count, long unit) {
  long weight = 0;
  for (int i = 0; i < count; ++i) {
    long step = values[i] * unit;
    probe((int)step);
    weight += step;
  }
  return weight;
}
static inline int clamp(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
__attribute__((noinline)) int measure(int *values, int count) {
  int biggest = 0;
  for (int i = 0; i + 1 < count; ++i) {
    int far = distance(values[i], values[i + 1]);
    int near = clamp(far, 3, 30);
    probe(near);
    if (near > biggest)
      biggest = near;
  }
  long weight = weigh(values, count, biggest);
  probe(biggest);
  return biggest + (int)weight;
}
int main(int argc, char **argv) {
  int values[4] = {argc, 2, argc + 3, 5};
  int result = measure(values, 4);
  int once = distance(result & 7, argc);
  probe(once);
  return (result + once) & 63;
}
