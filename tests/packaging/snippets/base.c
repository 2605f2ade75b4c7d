/* base.c - the snippets of base.h. */
#include <tickwheel/wheel.h>

#include "harness.h"

#include <stdio.h>

/* A wheel that counts a timer too many is described on standard error. */
static void a_broken_wheel_is_described(void)
{
    size_t bytes = tkw_wheel_bytes(NULL);
    struct tkw_wheel *wheel = malloc(bytes);
    must(wheel != NULL && tkw_wheel_init(wheel, bytes, NULL, 0) == 0);
    wheel->stats.armed++;
    FILE *written = tmpfile();
    must(written != NULL);
#undef stderr
#define stderr written

#include "base.1.1"

    char line[TKW_FAULT_TEXT_MAX];
    rewind(written);
    must(fgets(line, sizeof line, written) != NULL);
    must(strcmp(line, "the wheel is broken: number of armed timers is 1, "
                      "expected 0\n") == 0);
    fclose(written);
    free(wheel);
}

int main(void)
{
    a_broken_wheel_is_described();
    return 0;
}
