/*
 * server/engine/model_private.h - what the files of the model share.
 */
#ifndef TESTS_SERVER_ENGINE_MODEL_PRIVATE_H
#define TESTS_SERVER_ENGINE_MODEL_PRIVATE_H

#include "model.h"

/* model.c: tubes, the selection of jobs, and waiting */

/* Round a time up to a tick. */
uint64_t model__tick(uint64_t ns);

/* Return the time after a number of seconds, which is not rounded. */
uint64_t model__after(const struct model *model, uint32_t seconds);

/* Return a number below `limit`, where the contract leaves it open. */
unsigned model__choose(struct model *model, unsigned limit);

/* Let tubes appear and vanish. */
void model__update_tubes(struct model *model);

struct model_job *model__find(struct model *model, uint64_t id);

/* Return the first job of a tube in the order of its state, or NULL. */
struct model_job *model__first(struct model *model, unsigned tube,
                               enum model_state state);

/* Return the best ready job of the tubes in a set, or NULL. */
struct model_job *model__best(struct model *model, unsigned tubes,
                              bool is_paused_too);

/* Return when a job of a client enters its last second, or TKD_NEVER. */
uint64_t model__soon(const struct model *model, unsigned client);

/* Reserve a job for a client, which does not wait any more. */
void model__reserve(struct model *model, unsigned client,
                    struct model_job *job);

/* Return the client that gets the next job of a tube, or MODEL_CLIENTS. */
unsigned model__first_waiting(const struct model *model, unsigned tube);

/* Give the ready jobs of a tube to the clients that wait for them. */
void model__serve_tube(struct model *model, unsigned tube);

void model__make_ready(struct model *model, struct model_job *job);

/* model_jobs.c */

/* Execute a command on one job, or reserve, or kick. */
void model__job_command(struct model *model, const struct act *act);

/* Make jobs ready, which are given by their ids, in an open order. */
void model__make_all_ready(struct model *model, uint64_t *ids, unsigned count);

/* model_time.c */
void model__turn(struct model *model, uint64_t now);

/* model_text.c */

enum { MODEL_ALL = MODEL_TUBES }; /* instead of the number of a tube */

void model__reply(struct model *model, unsigned client, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Append a reply with the body of a job. */
void model__reply_job(struct model *model, unsigned client, const char *word,
                      const struct model_job *job);
/* Append a reply with YAML. */
void model__reply_yaml(struct model *model, unsigned client, const char *yaml,
                       size_t length);

/* Write the counts of jobs, which stats and stats-tube have both. */
int model__write_jobs(const struct model *model, unsigned tube, char *yaml,
                      size_t size);
void model__stats(struct model *model, unsigned client);
void model__stats_tube(struct model *model, unsigned client, unsigned tube);
void model__stats_job(struct model *model, unsigned client,
                      const struct model_job *job);

/* Append the list of the tubes in a set, by their numbers. */
void model__list(struct model *model, unsigned client, unsigned tubes);

#endif
