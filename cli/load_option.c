/*
 * load_option.c - reading the options that describe a load.
 */
#include "load_option.h"

#include "commands.h"

#include <stdio.h>
#include <string.h>

struct load_settings load_option_defaults(void)
{
    return (struct load_settings){.kind = load_find("burst"), .seed = 1};
}

bool load_option_is(int c)
{
    return c != '\0' && strchr("ltdr", c) != NULL;
}

static bool read_kind(const char *name, const struct load_kind **kind)
{
    const struct load_kind *found = load_find(name);
    if (found == NULL) {
        fprintf(stderr,
                "tickwheel: --load is '%s'; give burst, requests or idle\n",
                name);
        return false;
    }
    *kind = found;
    return true;
}

bool load_option_read(struct load_settings *load, int c, const char *text)
{
    switch (c) {
    case 'l':
        return read_kind(text, &load->kind);
    case 't':
        return option_number("--timers", text, 1, 100000000, &load->task_count);
    case 'd':
        return option_number("--delay", text, 1, 1000000000000000,
                             &load->delay_ms);
    default:
        return option_number("--seed", text, 0, UINT64_MAX, &load->seed);
    }
}

void load_option_complete(struct load_settings *load)
{
    if (load->task_count == 0)
        load->task_count = load->kind->task_count;
    if (load->delay_ms == 0)
        load->delay_ms = load->kind->delay_ms;
}
