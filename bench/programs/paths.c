// Shortest paths on a grid with a binary heap (Dijkstra), structures by value and by pointer.
#include <stdint.h>
#include <stdio.h>
enum { side = 64 };
struct node {
  int32_t distance;
  int16_t x, y;
};
static uint8_t cost[side][side];
static int32_t distance[side][side];
static struct node heap[side * side * 4];
static int count;
static void push(struct node n) {
  int i = count++;
  for (; i && heap[(i - 1) / 2].distance > n.distance; i = (i - 1) / 2)
    heap[i] = heap[(i - 1) / 2];
  heap[i] = n;
}
static struct node pop(void) {
  struct node top = heap[0], last = heap[--count];
  int i = 0;
  for (int child; (child = 2 * i + 1) < count; i = child) {
    if (child + 1 < count && heap[child + 1].distance < heap[child].distance)
      child++;
    if (heap[child].distance >= last.distance)
      break;
    heap[i] = heap[child];
  }
  heap[i] = last;
  return top;
}
int main(void) {
  static const int8_t dx[] = {1, -1, 0, 0}, dy[] = {0, 0, 1, -1};
  uint32_t seed = 7;
  for (int y = 0; y < side; y++)
    for (int x = 0; x < side; x++)
      seed = seed * 69069 + 1, cost[y][x] = 1 + (seed >> 28), distance[y][x] = INT32_MAX;
  distance[0][0] = 0;
  push((struct node){0, 0, 0});
  while (count) {
    struct node n = pop();
    if (n.distance != distance[n.y][n.x])
      continue;
    for (int d = 0; d < 4; d++) {
      int x = n.x + dx[d], y = n.y + dy[d];
      if (x < 0 || y < 0 || x >= side || y >= side)
        continue;
      int32_t there = n.distance + cost[y][x];
      if (there < distance[y][x]) {
        distance[y][x] = there;
        push((struct node){there, (int16_t)x, (int16_t)y});
      }
    }
  }
  printf("%d\n", distance[side - 1][side - 1]);
}
