// Planets under gravity in double, and a filter and a polynomial in float.
#include <math.h>
#include <stdio.h>
struct body {
  double x, y, z, vx, vy, vz, mass;
};
static struct body bodies[5] = {{0, 0, 0, 0, 0, 0, 39.5},
                                {4.8, -1.2, -0.1, 0.6, 2.8, -0.02, 0.038},
                                {8.3, 4.1, -0.4, -1.0, 1.8, 0.008, 0.011},
                                {12.9, -15.1, -0.2, 1.1, 0.87, -0.01, 0.0017},
                                {15.4, -25.9, 0.2, 0.98, 0.59, -0.03, 0.002}};
static float signal[512], filtered[512];
int main(void) {
  for (int step = 0; step < 600; step++) {
    for (int i = 0; i < 5; i++)
      for (int j = i + 1; j < 5; j++) {
        double dx = bodies[i].x - bodies[j].x, dy = bodies[i].y - bodies[j].y, dz = bodies[i].z - bodies[j].z;
        double square = dx * dx + dy * dy + dz * dz, pull = 0.01 / (square * sqrt(square));
        bodies[i].vx -= dx * bodies[j].mass * pull, bodies[i].vy -= dy * bodies[j].mass * pull, bodies[i].vz -= dz * bodies[j].mass * pull;
        bodies[j].vx += dx * bodies[i].mass * pull, bodies[j].vy += dy * bodies[i].mass * pull, bodies[j].vz += dz * bodies[i].mass * pull;
      }
    for (int i = 0; i < 5; i++)
      bodies[i].x += 0.01 * bodies[i].vx, bodies[i].y += 0.01 * bodies[i].vy, bodies[i].z += 0.01 * bodies[i].vz;
  }
  for (int i = 0; i < 512; i++) {
    float t = i * 0.01f;
    signal[i] = ((0.2f * t - 1.5f) * t + 0.7f) * t + (i & 1 ? 0.25f : -0.25f);
  }
  float low = 0, high = 0;
  for (int pass = 0; pass < 10; pass++)
    for (int i = 2; i < 510; i++) {
      filtered[i] = 0.1f * (signal[i - 2] + signal[i + 2]) + 0.2f * (signal[i - 1] + signal[i + 1]) + 0.4f * signal[i];
      low = filtered[i] < low ? filtered[i] : low;
      if (fabsf(filtered[i]) > high)
        high = fabsf(filtered[i]);
    }
  printf("%.9f %.6f %.6f\n", bodies[0].x + bodies[4].vz, low, high);
}
