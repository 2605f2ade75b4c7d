/* docs_guide_idle.c - the snippets of docs/guide/idle.md that are no programs.
 */
#include <tickwheel/monitor.h>

#include "manual_clock_service.h"

struct connection {
    bool is_silent;
};

/* What is handed out leads back to the connection. */
static void mark(void *context, const struct tkw_idle_key *silent, size_t count)
{
    (void)context;
    must(count == 1 && silent->key.bytes == NULL);
    ((struct connection *)(uintptr_t)silent->key.number)->is_silent = true;
}

int main(void)
{
    struct connection theirs = {0}, *connection = &theirs;
    struct manual_clock_service it = manual_clock_service_open();
    struct tkw_monitor_config config = {.on_silent = mark};
    struct tkw_monitor *monitor;
    must(tkw_monitor_open(&monitor, it.service, &config) == 0);

#include "docs_guide_idle.2.1"

    must(!connection->is_silent);
    manual_clock_service_advance(it, 31 * TKW_SECOND);
    must(connection->is_silent);
    tkw_monitor_close(monitor);
    manual_clock_service_close(it);
    return 0;
}
