/* What the start-up calls in place of main: main with its arguments, each as it was given.
 *
 * The host has one line for all of them: words with blanks between, and behind its end the program's name. A backslash says that the byte
 * after it is meant as it is, "" is an empty word. (sim/semihosting.cc writes it so; picolibc's own start-up knows blanks only.) */
#include "semihosting.h"
#include <stdlib.h>

int __real_main(int count, char **arguments);

int __wrap_main(void) {
  enum { LONGEST = 1 << 17 };
  static char none[1], *no_arguments[] = {none, NULL};
  char *line = calloc(LONGEST, 1);
  uintptr_t room[2] = {(uintptr_t)line, LONGEST};
  if (!line || sys_semihost(SYS_GET_CMDLINE, (uintptr_t)room) != 0)
    return __real_main(1, no_arguments);
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
