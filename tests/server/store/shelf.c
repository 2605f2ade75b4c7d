#define _GNU_SOURCE

#include "shelf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { PATIENCE = 60 }; /* seconds, for a store that never answers */

static void *allocate(void *context, size_t bytes)
{
    (void)context;
    return malloc(bytes);
}

static void release(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)bytes;
    free(memory);
}

const struct tkw_allocator shelf_allocator = {
    .allocate = allocate,
    .release = release,
};

static void wake(void *context)
{
    struct shelf *shelf = context;
    sem_post(&shelf->woken);
}

static void open_store(struct shelf *shelf)
{
    char why[TKD_ROCKS_WHY_MAX] = "";
    if (tkd_rocks_open(&shelf->store, &shelf->config, why) != 0)
        fail_msg("%s", why);
}

int shelf_open(void **state)
{
    struct shelf *shelf = calloc(1, sizeof *shelf);
    assert_non_null(shelf);
    directory_make(shelf->directory);
    sem_init(&shelf->woken, 0, 0);
    shelf->batch = 1;
    shelf->config = (struct tkd_rocks_config){
        .allocator = &shelf_allocator,
        .directory = shelf->directory,
        .wake = wake,
        .wake_context = shelf,
    };
    open_store(shelf);
    *state = shelf;
    return 0;
}

int shelf_close(void **state)
{
    struct shelf *shelf = *state;
    tkd_store_close(shelf->store);
    directory_remove(shelf->directory);
    sem_destroy(&shelf->woken);
    free(shelf);
    return 0;
}

void shelf_reopen(struct shelf *shelf)
{
    tkd_store_close(shelf->store);
    open_store(shelf);
}

struct tkd_answer shelf_wait(struct shelf *shelf)
{
    struct tkd_answer answer;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE;
    while (!tkd_store_poll(shelf->store, &answer))
        assert_int_equal(sem_timedwait(&shelf->woken, &until), 0);
    return answer;
}

void shelf_release(struct tkd_answer *answer)
{
    tkd_body_release(&shelf_allocator, answer->body);
    answer->body = NULL;
}

void shelf_commit(struct shelf *shelf)
{
    tkd_store_submit(shelf->store, shelf->batch);
    struct tkd_answer answer = shelf_wait(shelf);
    assert_int_equal(answer.kind, TKD_ANSWER_DURABLE);
    assert_int_equal(answer.token, shelf->batch);
    shelf->batch++;
}

static void write_job(struct shelf *shelf, struct tkd_write *write,
                      const char *text)
{
    write->record_size = (uint16_t)strlen(text);
    memcpy(write->record, text, write->record_size);
    assert_true(tkd_store_reserve(shelf->store, 1));
    tkd_store_write(shelf->store, write);
}

void shelf_put(struct shelf *shelf, uint64_t id, struct tkd_place place,
               const char *text)
{
    char bytes[128];
    int size = snprintf(bytes, sizeof bytes, "body of %s", text);
    struct tkd_body *body = tkd_body_open(&shelf_allocator, (uint32_t)size);
    assert_non_null(body);
    memcpy(body->bytes, bytes, (size_t)size);
    struct tkd_write write = {
        .id = id,
        .home = place.order == TKD_ORDER_DUE ? place.at : 1,
        .after = place,
        .body = body,
    };
    write_job(shelf, &write, text);
    tkd_body_release(&shelf_allocator, body);
}

void shelf_move(struct shelf *shelf, uint64_t id, uint64_t home,
                struct tkd_place before, struct tkd_place after,
                const char *text)
{
    struct tkd_write write = {
        .id = id, .home = home, .before = before, .after = after};
    write_job(shelf, &write, text);
}

void shelf_delete(struct shelf *shelf, uint64_t id, uint64_t home,
                  struct tkd_place before)
{
    struct tkd_write write = {.id = id, .home = home, .before = before};
    write_job(shelf, &write, "");
}

void shelf_set(struct shelf *shelf, enum tkd_table table, uint32_t key,
               const char *text)
{
    struct tkd_row row = {
        .table = table, .key = key, .size = (uint16_t)strlen(text)};
    memcpy(row.bytes, text, row.size);
    assert_true(tkd_store_reserve(shelf->store, 1));
    tkd_store_set(shelf->store, &row);
}

struct tkd_answer shelf_ask(struct shelf *shelf, uint64_t id)
{
    struct tkd_question question = {.token = 77, .id = id};
    assert_true(tkd_store_ask(shelf->store, &question));
    struct tkd_answer answer = shelf_wait(shelf);
    assert_int_equal(answer.kind, TKD_ANSWER_JOB);
    assert_int_equal(answer.token, 77);
    assert_int_equal(answer.id, id);
    return answer;
}

void shelf_list(struct shelf *shelf, const struct tkd_range *range, char *ids,
                size_t size)
{
    assert_true(tkd_store_list(shelf->store, range));
    struct tkd_answer answer = shelf_wait(shelf);
    assert_int_equal(answer.kind, TKD_ANSWER_LIST);
    assert_int_equal(answer.token, range->token);
    const struct tkd_item *items = (const void *)answer.body->bytes;
    size_t length = 0;
    ids[0] = '\0';
    for (size_t i = 0; i < answer.body->size / sizeof *items; i++)
        length += (size_t)snprintf(ids + length, size - length, "%s%llu",
                                   i == 0 ? "" : " ",
                                   (unsigned long long)items[i].id);
    if (!answer.is_at_end)
        snprintf(ids + length, size - length, " ...");
    shelf_release(&answer);
}
