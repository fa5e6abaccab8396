// A fast Fourier transform of 4096 points in float, forth and back.
#include <math.h>
#include <stdio.h>
enum { n = 4096 };
static float re[n], im[n];
static void transform(float sign) {
  for (int i = 1, j = 0; i < n; i++) {
    int bit = n >> 1;
    for (; j & bit; bit >>= 1)
      j ^= bit;
    j ^= bit;
    if (i < j) {
      float t = re[i];
      re[i] = re[j];
      re[j] = t;
      t = im[i];
      im[i] = im[j];
      im[j] = t;
    }
  }
  for (int size = 2; size <= n; size *= 2) {
    float angle = sign * 6.2831853f / (float)size, wr = cosf(angle), wi = sinf(angle);
    for (int start = 0; start < n; start += size) {
      float cr = 1, ci = 0;
      for (int k = 0; k < size / 2; k++) {
        int a = start + k, b = a + size / 2;
        float xr = re[b] * cr - im[b] * ci, xi = re[b] * ci + im[b] * cr;
        re[b] = re[a] - xr, im[b] = im[a] - xi;
        re[a] += xr, im[a] += xi;
        float t = cr * wr - ci * wi;
        ci = cr * wi + ci * wr, cr = t;
      }
    }
  }
}
int main(void) {
  for (int i = 0; i < n; i++)
    re[i] = (float)((i * 37) % 101) / 101, im[i] = 0;
  transform(-1);
  float peak = 0;
  for (int i = 1; i < n; i++)
    if (re[i] * re[i] > peak)
      peak = re[i] * re[i];
  transform(1);
  float worst = 0;
  for (int i = 0; i < n; i++)
    worst = fmaxf(worst, fabsf(re[i] / n - (float)((i * 37) % 101) / 101));
  printf("%d %d\n", peak > 1, worst < 1e-3f);
}
