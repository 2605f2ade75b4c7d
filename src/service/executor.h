/*
 * service/executor.h - what those who build on a service ask it, and users need
 * not.
 */
#ifndef TKW_SERVICE_EXECUTOR_H
#define TKW_SERVICE_EXECUTOR_H

#include <tickwheel/service.h>

/* Can timers of the service say that they run there? */
bool tkw__service_has(const struct tkw_service *service,
                      enum tkw_executor executor);

#endif
