/*
 * request_server.c - requests that wait for a condition or a timeout.
 *
 *     GET 1000 size colour     waits until one of them is PUT, up to 1000 ms
 *     PUT colour blue          answers all that wait for it
 *
 * A connection is one request.  A GET is an operation: whoever completes it
 * answers, a PUT or the timeout, and when nobody can touch it any more it is
 * freed.  The program is its own clients, in a second thread.
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <tickwheel/purgatory.h>

#include "loopback.h"

enum { WORD = 20, PAIRS = 16 };

struct server {
    int listener;
    struct sockaddr_in address;
    struct tkw_service *service;
    struct tkw_purgatory *purgatory;
    char pairs[PAIRS][2][WORD]; /* without a lock: only in serve() */
    int pair_count;
};

struct request {
    struct tkw_operation operation; /* first: its address is the request's */
    struct server *server;
    int fd;
    uint64_t came_ns;
    char keys[2][WORD];
    char answer[80];
};

static bool find_value(struct tkw_operation *operation)
{
    struct request *request = (struct request *)operation;
    struct server *server = request->server;
    for (int i = 0; i < server->pair_count; i++) {
        if (strcmp(server->pairs[i][0], request->keys[0]) == 0 ||
            strcmp(server->pairs[i][0], request->keys[1]) == 0)
            sprintf(request->answer, "%s is %s\n", server->pairs[i][0],
                    server->pairs[i][1]);
    }
    return request->answer[0] != '\0';
}

static void send_answer(struct tkw_operation *operation)
{
    struct request *request = (struct request *)operation;
    uint64_t ns = tkw_service_now(request->server->service) - request->came_ns;
    if (request->answer[0] == '\0') /* so it was not find_value() */
        sprintf(request->answer, "timed out: %d ms\n", (int)(ns / 1000000));
    loopback_say(request->fd, request->answer);
}

static void let_go(struct tkw_operation *operation)
{
    close(((struct request *)operation)->fd);
    free(operation);
}

static const struct tkw_operation_type get_type = {
    .try_complete = find_value,
    .on_complete = send_answer,
    .on_release = let_go,
};

static void get(struct server *server, int fd, unsigned ms, char words[2][WORD])
{
    struct tkw_key keys[] = {tkw_key_text(words[0]), tkw_key_text(words[1])};
    struct request *request = calloc(1, sizeof *request);
    if (request == NULL)
        abort();
    request->operation.type = &get_type;
    request->operation.timeout_ns = ms * TKW_MILLISECOND;
    request->server = server;
    request->fd = fd;
    request->came_ns = tkw_service_now(server->service);
    memcpy(request->keys, words, sizeof request->keys);
    if (tkw_purgatory_try_complete_else_watch(server->purgatory,
                                              &request->operation, keys, 2) < 0)
        let_go(&request->operation);
}

/* First make it true, then notify: so nobody who waits is missed. */
static void put(struct server *server, int fd, char words[2][WORD])
{
    char answer[40];
    if (server->pair_count < PAIRS)
        memcpy(server->pairs[server->pair_count++], words, 2 * WORD);
    snprintf(answer, sizeof answer, "%zu waited\n",
             tkw_purgatory_notify(server->purgatory, tkw_key_text(words[0])));
    loopback_say(fd, answer);
    close(fd);
}

static void serve(struct server *server)
{
    for (int fd; (fd = accept(server->listener, NULL, NULL)) >= 0;) {
        char text[80], words[2][WORD];
        const char *line = loopback_last_line(fd, text, sizeof text);
        unsigned ms;
        if (sscanf(line, "GET %u %19s %19s", &ms, words[0], words[1]) == 3)
            get(server, fd, ms, words);
        else if (sscanf(line, "PUT %19s %19s", words[0], words[1]) == 2)
            put(server, fd, words);
        else
            close(fd);
    }
}

static void *ask(void *argument)
{
    static const char *const lines[] = {
        "GET 9000 size colour\n", "GET 9000 price size\n",
        "GET 100 price weight\n", "PUT colour blue\n",
        "PUT size large\n",       "GET 9000 size weight\n",
    };
    struct server *server = argument;
    loopback_ask(&server->address, lines, sizeof lines / sizeof lines[0]);
    shutdown(server->listener, SHUT_RDWR); /* that ends serve() */
    return NULL;
}

int main(void)
{
    struct server server = {0};
    pthread_t clients;
    server.listener = loopback_listen(&server.address);
    if (tkw_service_open(&server.service, NULL) != 0 ||
        tkw_purgatory_open(&server.purgatory, server.service, NULL) != 0 ||
        pthread_create(&clients, NULL, ask, &server) != 0)
        return 1;
    serve(&server);
    pthread_join(clients, NULL);
    struct tkw_purgatory_stats f = tkw_purgatory_read_stats(server.purgatory);
    printf("%d done, %d expired\n", (int)f.completed, (int)f.expired);
    tkw_purgatory_close(server.purgatory, NULL, NULL);
    tkw_service_close(server.service, NULL, NULL);
    close(server.listener);
    return 0;
}
