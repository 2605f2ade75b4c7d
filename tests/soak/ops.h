/*
 * ops.h - what threads and callbacks do to the timers of a scene.
 *
 * `self` is the probe whose callback does it, or NULL.
 */
#ifndef SOAK_OPS_H
#define SOAK_OPS_H

#include "scene.h"

/* A random probe that was armed, or NULL. */
struct probe *op_pick(struct scene *scene, struct random *random);

void op_arm(struct scene *scene, struct random *random);
void op_arm_many(struct scene *scene, struct random *random);
void op_company(struct scene *scene, struct random *random);

void op_move(struct scene *scene, struct random *random);
void op_revive_self(struct probe *self, tkw_handle handle,
                    struct random *random);

void op_cancel(struct scene *scene, struct random *random);
void op_cancel_sync(struct scene *scene, struct random *random,
                    struct probe *self);
void op_cancel_many(struct scene *scene, struct random *random);
void op_cancel_owner(struct scene *scene, struct random *random,
                     struct probe *self);
void op_stale(struct scene *scene, struct random *random);
void op_query(struct scene *scene, struct random *random);
void op_read_stats(struct scene *scene, struct random *random);
void op_stop(struct scene *scene, bool is_in_callback);

#endif
