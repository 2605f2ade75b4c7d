/*
 * net/process.h - facts about the process and the machine.
 */
#ifndef TKD_NET_PROCESS_H
#define TKD_NET_PROCESS_H

#include <engine/engine.h>
#include <sys/utsname.h>

enum { TKD_PROCESS_ID_MAX = 17 }; /* 16 digits and a 0 */

struct tkd_process {
    /* private */
    struct tkd_facts facts;
    struct utsname names;
    char id[TKD_PROCESS_ID_MAX];
    uint64_t refreshed_ns; /* 0: never */
};

/* Collect the facts.  `id` is any number. */
void tkd_process_init(struct tkd_process *process, uint64_t id);

/* Pass the facts to the engine, at most once a second.  `process` must outlive
 * the engine. */
void tkd_process_describe(struct tkd_process *process,
                          struct tkd_engine *engine, uint64_t now_ns);

/* Raise the limit of open descriptors as far as the system allows.  Returns how
 * many connections can be open. */
uint32_t tkd_process_connections_max(void);

#endif
