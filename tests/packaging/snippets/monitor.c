/* monitor.c - the snippets of monitor.h. */
#include <tickwheel/monitor.h>

#include "hand_service.h"

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
    struct hand_service it = hand_service_open();
    struct tkw_service *service = it.service;

#include "monitor.1.2"

    must(error == 0);

#include "monitor.1.3"

    hand_service_turn(it, 29 * TKW_SECOND);
    must(server->gone == 0 && tkw_monitor_count(monitor) == 1);
    hand_service_turn(it, 2 * TKW_SECOND);
    must(server->gone == 1 && tkw_monitor_count(monitor) == 0);

#include "monitor.1.4"

    must(tkw_service_count(service) == 0);
    hand_service_close(it);
    return 0;
}
