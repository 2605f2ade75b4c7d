/*
 * What every store that keeps jobs does: the promises of store.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "shelf.h"

static void assert_text(const char *bytes, size_t size, const char *text)
{
    assert_int_equal(size, strlen(text));
    assert_memory_equal(bytes, text, size);
}

/* Expect a job with the record `text` and its body. */
static void assert_job(struct shelf *shelf, uint64_t id, const char *text)
{
    struct tkd_answer answer = shelf_ask(shelf, id);
    assert_true(answer.is_found);
    assert_text((const char *)answer.record, answer.record_size, text);
    assert_text(answer.body->bytes, 8, "body of ");
    shelf_release(&answer);
}

static void assert_no_job(struct shelf *shelf, uint64_t id)
{
    struct tkd_answer answer = shelf_ask(shelf, id);
    assert_false(answer.is_found);
    assert_null(answer.body);
}

static void a_durable_job_survives_a_restart(void **state)
{
    struct shelf *shelf = *state;
    shelf_put(shelf, 7, due(3, 1000), "seven");
    shelf_commit(shelf);
    assert_job(shelf, 7, "seven");
    shelf_reopen(shelf);
    assert_job(shelf, 7, "seven");
    assert_no_job(shelf, 8);
}

static void a_body_is_found_by_its_home(void **state)
{
    struct shelf *shelf = *state;
    shelf_put(shelf, 7, due(3, 1000), "seven");
    shelf_move(shelf, 7, 1000, due(3, 1000), due(3, 2000), "later");
    shelf_commit(shelf);
    struct tkd_question question = {
        .token = 5, .id = 7, .home = 1000, .is_body_only = true};
    assert_true(tkd_store_ask(shelf->store, &question));
    struct tkd_answer answer = shelf_wait(shelf);
    assert_true(answer.is_found);
    assert_int_equal(answer.record_size, 0);
    assert_text(answer.body->bytes, answer.body->size, "body of seven");
    shelf_release(&answer);
}

static void a_deleted_job_stays_deleted(void **state)
{
    struct shelf *shelf = *state;
    shelf_put(shelf, 1, due(3, 1000), "one");
    shelf_put(shelf, 2, due(3, 1001), "two");
    shelf_commit(shelf);
    shelf_delete(shelf, 1, 1000, due(3, 1000));
    shelf_put(shelf, 3, due(3, 1002), "three");
    shelf_delete(shelf, 3, 1002, due(3, 1002));
    shelf_commit(shelf);
    shelf_reopen(shelf);
    assert_no_job(shelf, 1);
    assert_job(shelf, 2, "two");
    assert_no_job(shelf, 3);
}

/* A place that a job has left must not be listed, nor one it has twice. */
static void a_job_is_listed_where_it_is(void **state)
{
    struct shelf *shelf = *state;
    char ids[128];
    shelf_put(shelf, 1, due(3, 500), "one");
    shelf_commit(shelf);
    shelf_move(shelf, 1, 500, due(3, 500), due(3, 500), "same place");
    shelf_move(shelf, 1, 500, due(3, 500), buried(3, 9), "buried");
    shelf_move(shelf, 1, 500, buried(3, 9), due(3, 800), "again");
    shelf_commit(shelf);
    struct tkd_range range = {.end = UINT64_MAX, .most = 10, .tube = 3};
    shelf_list(shelf, &range, ids, sizeof ids);
    assert_string_equal(ids, "1");
    range.list = TKD_LIST_TUBE_DUE;
    shelf_list(shelf, &range, ids, sizeof ids);
    assert_string_equal(ids, "1");
    range.end = 800;
    shelf_list(shelf, &range, ids, sizeof ids);
    assert_string_equal(ids, "");
    range = (struct tkd_range){.list = TKD_LIST_BURIED, .most = 10};
    shelf_list(shelf, &range, ids, sizeof ids);
    assert_string_equal(ids, "");
    assert_job(shelf, 1, "again");
}

static void lists_are_in_order_and_have_bounds(void **state)
{
    struct shelf *shelf = *state;
    char ids[128];
    shelf_put(shelf, 5, due(2, 300), "e");
    shelf_put(shelf, 1, due(1, 300), "a");
    shelf_put(shelf, 9, due(1, 100), "i");
    shelf_put(shelf, 4, due(1, 400), "d");
    shelf_put(shelf, 6, buried(2, 1), "f");
    shelf_put(shelf, 7, buried(1, 3), "g");
    shelf_put(shelf, 8, buried(1, 2), "h");
    shelf_commit(shelf);
    struct tkd_range range = {.end = 400, .most = 10, .token = 3};
    shelf_list(shelf, &range, ids, sizeof ids);
    assert_string_equal(ids, "9 1 5");
    range.most = 2;
    shelf_list(shelf, &range, ids, sizeof ids);
    assert_string_equal(ids, "9 1 ...");
    range.from = (struct tkd_position){.at = 300, .id = 2};
    shelf_list(shelf, &range, ids, sizeof ids);
    assert_string_equal(ids, "5");
    range = (struct tkd_range){
        .list = TKD_LIST_TUBE_DUE, .tube = 1, .end = UINT64_MAX, .most = 2};
    shelf_list(shelf, &range, ids, sizeof ids);
    assert_string_equal(ids, "9 1 ...");
    range = (struct tkd_range){.list = TKD_LIST_BURIED, .most = 10};
    shelf_list(shelf, &range, ids, sizeof ids);
    assert_string_equal(ids, "8 7 6");
    range.from = (struct tkd_position){.tube = 1, .at = 3};
    shelf_list(shelf, &range, ids, sizeof ids);
    assert_string_equal(ids, "7 6");
}

static void a_list_has_records(void **state)
{
    struct shelf *shelf = *state;
    shelf_put(shelf, 5, due(2, 300), "five");
    shelf_commit(shelf);
    struct tkd_range range = {
        .end = UINT64_MAX, .most = 10, .tube = 2, .list = TKD_LIST_TUBE_DUE};
    struct tkd_answer answer;
    assert_true(tkd_store_read_list(shelf->store, &range, &answer));
    const struct tkd_item *item = (const void *)answer.body->bytes;
    assert_int_equal(answer.body->size, sizeof *item);
    assert_true(answer.is_at_end);
    assert_int_equal(item->place.at, 300);
    assert_int_equal(item->place.tube, 2);
    assert_text((const char *)item->record, item->record_size, "five");
    shelf_release(&answer);
}

/* Without that, the loader would miss jobs that were put just before. */
static void a_list_sees_batches_that_are_not_durable_yet(void **state)
{
    struct shelf *shelf = *state;
    for (uint64_t id = 1; id <= 200; id++) {
        shelf_put(shelf, id, due(1, 100), "x");
        tkd_store_submit(shelf->store, shelf->batch++);
        struct tkd_range range = {
            .from = {.at = 100, .id = id}, .end = 101, .most = 2};
        assert_true(tkd_store_list(shelf->store, &range));
        for (int answers = 0; answers < 2; answers++) {
            struct tkd_answer answer = shelf_wait(shelf);
            if (answer.kind == TKD_ANSWER_LIST)
                assert_int_equal(answer.body->size, sizeof(struct tkd_item));
            shelf_release(&answer);
        }
    }
}

static void rows_are_found_in_order(void **state)
{
    struct shelf *shelf = *state;
    shelf_set(shelf, TKD_TABLE_TUBE, 300, "c");
    shelf_set(shelf, TKD_TABLE_TUBE, 2, "b");
    shelf_set(shelf, TKD_TABLE_META, 1, "m");
    shelf_set(shelf, TKD_TABLE_TUBE, 4, "gone");
    shelf_commit(shelf);
    shelf_set(shelf, TKD_TABLE_TUBE, 4, "");
    shelf_commit(shelf);
    shelf_reopen(shelf);
    struct tkd_row row = {.table = TKD_TABLE_TUBE};
    assert_true(tkd_store_find_row(shelf->store, &row));
    assert_int_equal(row.key, 2);
    assert_text((const char *)row.bytes, row.size, "b");
    row.key++;
    assert_true(tkd_store_find_row(shelf->store, &row));
    assert_int_equal(row.key, 300);
    row.key++;
    assert_false(tkd_store_find_row(shelf->store, &row));
}

static void answers_to_many_questions_have_their_tokens(void **state)
{
    struct shelf *shelf = *state;
    enum { JOBS = 500 };
    for (uint64_t id = 1; id <= JOBS; id++)
        shelf_put(shelf, id, due(1, 1000 - id), "x");
    shelf_commit(shelf);
    for (uint64_t id = 1; id <= JOBS; id++) {
        struct tkd_question question = {.token = id * 3, .id = id};
        assert_true(tkd_store_ask(shelf->store, &question));
    }
    uint64_t sum = 0;
    for (uint64_t i = 1; i <= JOBS; i++) {
        struct tkd_answer answer = shelf_wait(shelf);
        assert_true(answer.is_found);
        assert_int_equal(answer.token, answer.id * 3);
        sum += answer.id;
        shelf_release(&answer);
    }
    assert_int_equal(sum, JOBS * (JOBS + 1) / 2);
}

static void closing_drops_answers_that_nobody_took(void **state)
{
    struct shelf *shelf = *state;
    shelf_put(shelf, 1, due(1, 1), "x");
    tkd_store_submit(shelf->store, 1);
    struct tkd_question question = {.id = 1};
    for (int i = 0; i < 100; i++)
        assert_true(tkd_store_ask(shelf->store, &question));
    shelf_put(shelf, 2, due(1, 2), "never submitted");
    shelf_reopen(shelf);
    assert_job(shelf, 1, "x");
    assert_no_job(shelf, 2);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, shelf_open, shelf_close)
    const struct CMUnitTest tests[] = {
        TEST(a_durable_job_survives_a_restart),
        TEST(a_body_is_found_by_its_home),
        TEST(a_deleted_job_stays_deleted),
        TEST(a_job_is_listed_where_it_is),
        TEST(lists_are_in_order_and_have_bounds),
        TEST(a_list_has_records),
        TEST(a_list_sees_batches_that_are_not_durable_yet),
        TEST(rows_are_found_in_order),
        TEST(answers_to_many_questions_have_their_tokens),
        TEST(closing_drops_answers_that_nobody_took),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
