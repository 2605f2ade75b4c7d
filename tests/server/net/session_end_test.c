/*
 * server/net/session_end_test.c - when a session is over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session_scene.h"

/* Endings. */

static void quit_delivers_and_ends(void **state)
{
    struct scene *scene = *state;
    receive(scene, "touch 1\r\nquit\r\ntouch 2\r\n");
    assert_false(tkd_session_wants_input(&scene->session));
    assert_over(scene, false);
    deliver(scene, 1);
    assert_over(scene, false);
    send_all(scene);
    assert_over(scene, true);
    assert_string_equal(scene->client->log, "13: ");
}

/* quit may be among the bytes that were kept. */
static void quit_ends_a_run(void **state)
{
    struct scene *scene = *state;
    receive(scene, "reserve\r\nquit\r\ntouch 1\r\n");
    fake_serve(scene->client);
    deliver(scene, 1);
    send_all(scene);
    assert_int_equal(tkd_session_run(&scene->session), 1);
    assert_over(scene, true);
}

static void the_end_of_the_peer_comes_after_its_commands(void **state)
{
    struct scene *scene = *state;
    size_t most = TKD_SESSION_COMMANDS_MAX;
    receive_many(scene, "touch 1\r\n", most + 1);
    tkd_session_end(&scene->session);
    deliver(scene, most);
    send_all(scene);
    assert_over(scene, false);
    assert_int_equal(tkd_session_run(&scene->session), 1);
    deliver(scene, 1);
    send_all(scene);
    assert_over(scene, true);
}

/* A put whose body never comes must not keep the session. */
static void the_end_in_a_body_is_the_end(void **state)
{
    struct scene *scene = *state;
    receive(scene, "put 0 0 1 5\r\nab");
    tkd_session_end(&scene->session);
    assert_over(scene, true);
}

/* A peer that closes its sending half gets TIMED_OUT for a reserve that waits,
 * and for each one that would wait. */
static void a_waiting_reserve_ends_with_its_peer(void **state)
{
    struct scene *scene = *state;
    receive(scene, "touch 1\r\nreserve\r\ntouch 1\r\nreserve\r\n");
    tkd_session_end(&scene->session);
    assert_true(tkd_session_is_runnable(&scene->session));
    tkd_session_run(&scene->session);
    assert_false(tkd_session_is_waiting(&scene->session));
    assert_over(scene, false); /* the replies */
    deliver(scene, 4);
    send_all(scene);
    assert_over(scene, true);
}

/* A peer that has reset the connection gets nothing; but what it has sent is
 * executed. */
static void a_cut_session_executes_and_drops_replies(void **state)
{
    struct scene *scene = *state;
    receive(scene, "touch 1\r\n");
    deliver(scene, 1);
    receive(scene, "touch 1\r\n");
    tkd_session_cut(&scene->session);
    deliver(scene, 1);
    assert_int_equal(output_size(scene), 0);
    assert_int_equal(scene->memory.bytes, 0);
    assert_int_equal(receive(scene, "touch 1\r\n"), 1);
    assert_over(scene, false);
    tkd_session_end(&scene->session);
    deliver(scene, 1);
    assert_over(scene, true);
}

static void a_cut_session_does_not_wait_for_jobs(void **state)
{
    struct scene *scene = *state;
    receive(scene, "touch 1\r\nreserve\r\n");
    tkd_session_cut(&scene->session);
    assert_over(scene, true);
}

/* The server ends: it delivers the replies to executed commands. */
static void a_finishing_session_executes_no_more(void **state)
{
    struct scene *scene = *state;
    scene->client->is_fetching = true;
    scene->client->pending_count = 1;
    assert_false(tkd_session_wants_input(&scene->session));
    tkd_session_finish(&scene->session);
    assert_over(scene, false);
    scene->client->is_fetching = false;
    deliver(scene, 1);
    send_all(scene);
    assert_over(scene, true);
}

static void a_finishing_session_gives_up_waiting(void **state)
{
    struct scene *scene = *state;
    receive(scene, "reserve\r\ntouch 1\r\n");
    tkd_session_finish(&scene->session);
    assert_over(scene, true);
    assert_int_equal(scene->memory.bytes, 0);
}

/* HTTP. */

static void http_is_refused_however_it_is_split(void **state)
{
    static const char request[] = "GET /x HTTP/1.1\r\nHost: here\r\n\r\n";
    struct scene *scene = *state;
    for (size_t at = 1; at < sizeof request - 1; at++) {
        reopen(scene);
        tkd_session_receive(&scene->session, request, at);
        if (tkd_session_wants_input(&scene->session))
            tkd_session_receive(&scene->session, request + at,
                                sizeof request - 1 - at);
        assert_string_equal(scene->client->log, "r1 ");
        assert_false(tkd_session_wants_input(&scene->session));
        deliver(scene, 1);
        send_all(scene);
        assert_over(scene, true);
    }
}

static void http_is_a_mistake_later(void **state)
{
    struct scene *scene = *state;
    receive(scene, "touch 1\r\nGET / HTTP/1.1\r\ntouch 1\r\n");
    assert_string_equal(scene->client->log, "13: r1 13: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(quit_delivers_and_ends),
        TEST(quit_ends_a_run),
        TEST(the_end_of_the_peer_comes_after_its_commands),
        TEST(the_end_in_a_body_is_the_end),
        TEST(a_waiting_reserve_ends_with_its_peer),
        TEST(a_cut_session_executes_and_drops_replies),
        TEST(a_cut_session_does_not_wait_for_jobs),
        TEST(a_finishing_session_executes_no_more),
        TEST(a_finishing_session_gives_up_waiting),
        TEST(http_is_refused_however_it_is_split),
        TEST(http_is_a_mistake_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
