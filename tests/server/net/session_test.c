/*
 * server/net/session_test.c - the commands that a session executes, and those
 * that it keeps for later.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "session_scene.h"

/* Executing. */

/* Replies go out in order, with their bodies and all CRLFs. */
static void replies_are_lines_and_bodies(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(receive(scene, "delete 1\r\nreserve\r\n"), 2);
    deliver(scene, 1);
    fake_serve(scene->client);
    deliver_body(scene, 3);
    assert_output(scene, "DELETED\r\nRESERVED 1 3\r\nxxx\r\n");
    tkd_session_sent(&scene->session, 11);
    assert_output(scene, "SERVED 1 3\r\nxxx\r\n");
    assert_int_equal(scene->observed_count, 2);
}

/* One peer with many commands must not hold the loop. */
static void a_call_executes_a_bounded_number_of_commands(void **state)
{
    struct scene *scene = *state;
    size_t most = TKD_SESSION_COMMANDS_MAX;
    assert_int_equal(receive_many(scene, "touch 1\r\n", 3 * most - 1), most);
    assert_false(tkd_session_wants_input(&scene->session));
    assert_int_equal(tkd_session_run(&scene->session), most);
    assert_true(tkd_session_is_runnable(&scene->session));
    assert_int_equal(tkd_session_run(&scene->session), most - 1);
    assert_false(tkd_session_is_runnable(&scene->session));
    assert_true(tkd_session_wants_input(&scene->session));
    assert_int_equal(scene->client->pending_count, 3 * most - 1);
}

/* Refusals cost as much as commands. */
static void refusals_count_as_commands(void **state)
{
    struct scene *scene = *state;
    size_t most = TKD_SESSION_COMMANDS_MAX;
    assert_int_equal(receive_many(scene, "\r\n", most + 1), most);
    assert_true(tkd_session_is_runnable(&scene->session));
}

/* Commands behind one that waits are kept, and executed after it. */
static void commands_wait_behind_one_that_waits(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(receive(scene, "reserve\r\nuse a\r\nus"), 1);
    assert_false(tkd_session_wants_input(&scene->session));
    assert_false(tkd_session_is_runnable(&scene->session));
    assert_true(tkd_session_is_waiting(&scene->session));

    fake_serve(scene->client);
    assert_true(tkd_session_is_runnable(&scene->session));
    fake_forget(scene->client);
    assert_int_equal(tkd_session_run(&scene->session), 1);
    assert_int_equal(receive(scene, "e b\r\n"), 1);
    assert_string_equal(scene->client->log, "17:a 17:b ");
}

/* A worker that waits is still read: its end must be noticed. */
static void a_waiting_session_reads_on_until_it_keeps_bytes(void **state)
{
    struct scene *scene = *state;
    receive(scene, "reserve\r\n");
    assert_int_equal(receive(scene, "use a\r\n"), 0);
    assert_false(tkd_session_wants_input(&scene->session));
    fake_serve(scene->client);
    assert_int_equal(tkd_session_run(&scene->session), 1);
}

/* A body goes on while replies are stuck: the put has begun. */
static void a_body_passes_a_full_session(void **state)
{
    struct scene *scene = *state;
    scene->client->pending_count = TKD_SESSION_REPLIES_MAX - 1;
    receive(scene, "use a\r\nput 0 0 1 5\r\nab");
    assert_false(tkd_session_wants_input(&scene->session));
    deliver(scene, 1);
    tkd_session_run(&scene->session);
    scene->client->pending_count = TKD_SESSION_REPLIES_MAX;
    assert_true(tkd_session_wants_input(&scene->session));
    fake_forget(scene->client);
    receive(scene, "cde\r\n");
    assert_string_equal(scene->client->log, "cde. ");
    assert_false(tkd_session_wants_input(&scene->session));
}

/* Limits. */

static void too_many_replies_stop_the_session(void **state)
{
    struct scene *scene = *state;
    size_t most = TKD_SESSION_REPLIES_MAX;
    scene->client->pending_count = most - 1;
    assert_int_equal(receive(scene, "touch 1\r\ntouch 1\r\n"), 1);
    assert_false(tkd_session_is_runnable(&scene->session));
    deliver(scene, 1);
    assert_int_equal(tkd_session_run(&scene->session), 1);
    assert_int_equal(scene->client->pending_count, most);
    assert_false(tkd_session_wants_input(&scene->session));
}

static void too_much_output_stops_the_session(void **state)
{
    struct scene *scene = *state;
    receive(scene, "reserve\r\ntouch 1\r\n");
    fake_serve(scene->client);
    deliver_body(scene, TKD_SESSION_OUTPUT_MAX);
    assert_false(tkd_session_is_runnable(&scene->session));
    tkd_session_sent(&scene->session, 1000);
    assert_int_equal(tkd_session_run(&scene->session), 1);
}

/* Bodies that are still to come are counted, too: a peer that pipelines peeks
 * and reads nothing would have the engine hold a body for each. */
static void bodies_to_come_stop_the_session(void **state)
{
    struct scene *scene = *state;
    size_t most = TKD_SESSION_OUTPUT_MAX / 65535 + 1;
    assert_int_equal(receive_many(scene, "peek 1\r\n", 50), most);
    assert_false(tkd_session_is_runnable(&scene->session));
    deliver(scene, most - 1);
    assert_false(tkd_session_is_runnable(&scene->session));
    deliver(scene, 1);
    send_all(scene);
    assert_int_equal(tkd_session_run(&scene->session), most);
}

static void one_list_at_a_time(void **state)
{
    struct scene *scene = *state;
    assert_int_equal(receive_many(scene, "list-tubes\r\n", 2), 1);
    deliver(scene, 1);
    assert_int_equal(tkd_session_run(&scene->session), 1);
}

/* 10,000 silent workers must not cost 10,000 buffers. */
static void an_idle_session_has_no_buffers(void **state)
{
    struct scene *scene = *state;
    receive(scene, "touch 1\r\nus");
    deliver(scene, 1);
    assert_true(scene->memory.bytes > 0);
    send_all(scene);
    assert_int_equal(scene->memory.bytes, 0);
}

/* Memory. */

static void a_client_that_is_refused_opens_no_session(void **state)
{
    struct scene *scene = *state;
    struct tkd_session session;
    scene->engine.refuses_clients = true;
    assert_int_equal(tkd_session_open(&session, &scene->config, NULL), -ENOMEM);
    assert_int_equal(scene->memory.bytes, 0);
}

static void input_without_memory_ends_the_session(void **state)
{
    struct scene *scene = *state;
    scene->memory.left = 0;
    receive(scene, "reserve\r\ntouch 1\r\n");
    assert_over(scene, true);
    assert_false(tkd_session_wants_input(&scene->session));
    assert_false(tkd_session_is_runnable(&scene->session));
}

static void output_without_memory_ends_the_session(void **state)
{
    struct scene *scene = *state;
    for (size_t left = 0; left < 3; left++) {
        reopen(scene);
        receive(scene, "reserve\r\n");
        fake_serve(scene->client);
        scene->memory.left = left + 1; /* one is the test's body */
        deliver_body(scene, 10000);
        assert_over(scene, left < 2);
        scene->memory.left = SIZE_MAX;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(replies_are_lines_and_bodies),
        TEST(a_call_executes_a_bounded_number_of_commands),
        TEST(refusals_count_as_commands),
        TEST(commands_wait_behind_one_that_waits),
        TEST(a_waiting_session_reads_on_until_it_keeps_bytes),
        TEST(a_body_passes_a_full_session),
        TEST(too_many_replies_stop_the_session),
        TEST(too_much_output_stops_the_session),
        TEST(bodies_to_come_stop_the_session),
        TEST(one_list_at_a_time),
        TEST(an_idle_session_has_no_buffers),
        TEST(a_client_that_is_refused_opens_no_session),
        TEST(input_without_memory_ends_the_session),
        TEST(output_without_memory_ends_the_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
