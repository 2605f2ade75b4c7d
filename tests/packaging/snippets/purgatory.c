/* purgatory.c - the snippets of purgatory.h: a fetch that waits for data. */
#include <tickwheel/purgatory.h>

#include "manual_clock_service.h"

struct partition {
    uint64_t id;
    size_t bytes;
};

static struct partition orders = {.id = 3};
static int answers, released;

#include "purgatory.1.1"

static bool has_enough_data(struct tkw_operation *operation)
{
    return orders.bytes >=
           TKW_CONTAINER(operation, struct fetch, operation)->bytes_wanted;
}

static void send_answer(struct tkw_operation *operation)
{
    (void)operation;
    answers++;
}

static void free_fetch(struct tkw_operation *operation)
{
    free(TKW_CONTAINER(operation, struct fetch, operation));
    released++;
}

static void append(struct partition *partition, const char *data)
{
    partition->bytes += strlen(data);
}

#include "purgatory.1.2"

static void watch(struct tkw_purgatory *purgatory)
{
    struct tkw_key keys[] = {tkw_key_number(orders.id), tkw_key_number(4)};
    struct fetch *fetch = malloc(sizeof *fetch);
    must(fetch != NULL);
    fetch->bytes_wanted = orders.bytes + 5;

#include "purgatory.1.3"

    must(error == 0 && tkw_purgatory_read_stats(purgatory).watched == 2);
}

int main(void)
{
    struct partition *partition = &orders;
    const char *data = "hello";
    struct manual_clock_service it = manual_clock_service_open();
    struct tkw_purgatory *purgatory;
    must(tkw_purgatory_open(&purgatory, it.service, NULL) == 0);

    watch(purgatory);
    must(answers == 0);

#include "purgatory.1.4"

    must(answers == 1 && released == 1);

    /* One that nothing is appended for is answered half a second later. */
    watch(purgatory);
    manual_clock_service_advance(it, 499 * TKW_MILLISECOND);
    must(answers == 1);
    manual_clock_service_advance(it, 2 * TKW_MILLISECOND);
    must(answers == 2 && released == 2);
    must(tkw_purgatory_read_stats(purgatory).watched == 0);

    must(tkw_purgatory_close(purgatory, NULL, NULL) == 0);
    manual_clock_service_close(it);
    return 0;
}
