/* What the start-up calls in place of main: main with its arguments, each as it was given.
 *
 * The host has one line for all of them: words with blanks between, and behind its end the program's name. A backslash says that the byte
 * after it is meant as it is, "" is an empty word. (sim/semihosting.cc writes it so; picolibc's own start-up knows blanks only.) */
#include "semihosting.h"
#include <stdlib.h>

int __real_main(int count, char **arguments);

int __wrap_main(void) {
  static char none[1], *no_arguments[] = {none, NULL};
  enum { FIRST = 1 << 14, MOST = 1 << 24 };
  char *line = NULL;
  uintptr_t room[2] = {0, 0};
  for (uintptr_t bytes = FIRST;; bytes *= 2) { // until half of it is left, which the name needs
    free(line);
    line = bytes <= MOST ? calloc(bytes, 1) : NULL;
    if (!line)
      return __real_main(1, no_arguments);
    room[0] = (uintptr_t)line, room[1] = bytes;
    if (sys_semihost(SYS_GET_CMDLINE, (uintptr_t)room) == 0 && room[1] < bytes / 2)
      break;
  }
  char *name = line + room[1] + 1;
  int blanks = 0;
  for (const char *at = line; *at; ++at)
    blanks += *at == ' ';
  char **arguments = malloc((blanks + 3) * sizeof(char *));
  if (!arguments)
    return __real_main(1, no_arguments);
  int count = 0;
  arguments[count++] = name;
  char *from = line, *to = line;
  while (*from) {
    arguments[count++] = to;
    for (; *from && *from != ' '; ++from) {
      if (*from == '"')
        continue;
      if (*from == '\\' && from[1])
        ++from;
      *to++ = *from;
    }
    from += *from == ' ';
    *to++ = 0;
  }
  arguments[count] = NULL;
  return __real_main(count, arguments);
}
