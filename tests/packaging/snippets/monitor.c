/* monitor.c - the snippets of monitor.h. */
#include <tickwheel/monitor.h>

#include "manual_clock_service.h"

struct server {
    int gone;
};

static void disconnect(struct server *server, uint64_t user)
{
    must(user == 7);
    server->gone++;
}

#include "monitor.1.1"

int main(void)
{
    struct server ours = {0}, *server = &ours;
    uint64_t user = 7;
    struct manual_clock_service it = manual_clock_service_open();
    struct tkw_service *service = it.service;

#include "monitor.1.2"

    must(error == 0);

#include "monitor.1.3"

    manual_clock_service_advance(it, 29 * TKW_SECOND);
    must(server->gone == 0 && tkw_monitor_count(monitor) == 1);
    manual_clock_service_advance(it, 2 * TKW_SECOND);
    must(server->gone == 1 && tkw_monitor_count(monitor) == 0);

#include "monitor.1.4"

    must(tkw_service_count(service) == 0);
    manual_clock_service_close(it);
    return 0;
}
