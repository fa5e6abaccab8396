// Floats and doubles: arguments, locals, arrays, conversions.
#include "probe.h"
static double samples[6];
__attribute__((noinline)) double polynomial(double x, const double *c, int n) {
  double value = 0, power = 1;
  for (int i = 0; i < n; ++i) {
    value += c[i] * power;
    power *= x;
    probe(i);
  }
  return value;
}
__attribute__((noinline)) float mean(const float *v, int n, float *spread) {
  float sum = 0, low = v[0], high = v[0];
  for (int i = 0; i < n; ++i) {
    sum += v[i];
    low = v[i] < low ? v[i] : low;
    high = v[i] > high ? v[i] : high;
  }
  float average = sum / n;
  probe(n);
  *spread = high - low;
  return average;
}
__attribute__((noinline)) double root(double square) {
  double guess = square;
  int rounds = 0;
  while (rounds < 6) {
    double next = (guess + square / guess) / 2;
    guess = next;
    probe(rounds++);
  }
  return guess;
}
__attribute__((noinline)) double many(float a, double b, float c, double d, float e, double f, float g, double h, float i, double j) {
  double first = a * b + c * d;
  probe((int)first);
  double second = e * f + g * h + i * j;
  probe((int)second);
  return first - second;
}
int main(int argc, char **argv) {
  double c[4] = {1, 0.5 * argc, -2, 0.125};
  float v[5] = {1.5f, 2.25f, -3, argc, 8}, spread;
  double p = polynomial(argc + 0.5, c, 4);
  float m = mean(v, 5, &spread);
  double r = root(argc + 1.0);
  for (int i = 0; i < 6; ++i)
    samples[i] = p * i + m;
  double difference = many(1, 2, 3, 4, 5, 6, 7, 8, argc, 10);
  probe((int)(spread + r));
  return (int)(p + m + spread + r + difference + samples[3]) & 63;
}
