// Products of double matrices, and a Gaussian elimination.
#include <math.h>
#include <stdio.h>
enum { n = 60 };
static double a[n][n], b[n][n], c[n][n];
int main(void) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = (i * 7 + j * 3) % 11 + (i == j) * 20, b[i][j] = (i + j) % 5 - 2;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++)
        sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
  double determinant = 1;
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(a[i][k]) > fabs(a[best][k]))
        best = i;
    for (int j = 0; j < n; j++) {
      double t = a[k][j];
      a[k][j] = a[best][j];
      a[best][j] = t;
    }
    determinant *= a[k][k] / 20;
    for (int i = k + 1; i < n; i++) {
      double f = a[i][k] / a[k][k];
      for (int j = k; j < n; j++)
        a[i][j] -= f * a[k][j];
    }
  }
  double trace = 0;
  for (int i = 0; i < n; i++)
    trace += c[i][i];
  printf("%.6f %.6e\n", trace, determinant);
}
