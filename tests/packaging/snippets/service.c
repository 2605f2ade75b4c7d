/* service.c - the snippets of service.h. */
#include <stdatomic.h>

#include <tickwheel/service.h>

#include "harness.h"

#include "service.1.1"

static atomic_int freed;

static void count_and_free(void *connection)
{
    atomic_fetch_add(&freed, 1);
    free(connection);
}

#define free count_and_free

int main(void)
{
    void *connection = malloc(1);

#include "service.1.2"

    must(error == 0);

#include "service.1.3"

    must(error == 0);
    must(tkw_service_query(service, handle, NULL) == TKW_PENDING);

#include "service.1.4"

    must(freed == 1); /* by us, and it will not be hung up on */
    must(tkw_service_query(service, handle, NULL) == TKW_CANCELLED);

    /* Of another, which nobody cancels, hang_up() takes care. */
    error = tkw_service_arm(service, &handle, TKW_MILLISECOND,
                            (struct tkw_task){hang_up, malloc(1), NULL});
    must(error == 0);
    while (freed < 2)
        ;

    /* Of the next one there is a trace. */
    FILE *file = tmpfile();
    must(file != NULL);
    must(tkw_service_record(service, 10) == 0);

    /* And it is left when the service is closed. */
    error = tkw_service_arm(service, NULL, 3600 * TKW_SECOND,
                            (struct tkw_task){hang_up, malloc(1), free});
    must(error == 0);

#include "service.2.1"

    must(ftell(file) > 60);
    fclose(file);

#include "service.1.5"

    must(freed == 3);
    return 0;
}

void hang_up(void *connection, const struct tkw_firing *firing)
{
    must(firing->now_ns >= firing->due_ns);
    free(connection);
}
