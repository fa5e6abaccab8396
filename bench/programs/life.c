// Conway's game of life on a torus.
#include <stdio.h>
enum { n = 64 };
static unsigned char cell[2][n][n];
int main(void) {
  unsigned seed = 3;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      seed = seed * 1664525u + 1013904223u, cell[0][i][j] = seed >> 31;
  int now = 0;
  for (int turn = 0; turn < 50; turn++, now ^= 1)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        int around = 0;
        for (int di = -1; di <= 1; di++)
          for (int dj = -1; dj <= 1; dj++)
            if (di || dj)
              around += cell[now][(i + di) & (n - 1)][(j + dj) & (n - 1)];
        cell[now ^ 1][i][j] = around == 3 || (around == 2 && cell[now][i][j]);
      }
  int alive = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      alive += cell[now][i][j];
  printf("%d\n", alive);
}
