/*
 * service_executor.h - what those who build on a service ask it, and users need
 * not.
 */
#ifndef TKW_SERVICE_EXECUTOR_H
#define TKW_SERVICE_EXECUTOR_H

#include <tickwheel/service.h>

#define service_has tkw_inner_service_has

/* Can timers of the service say that they run there? */
bool service_has(const struct tkw_service *service, enum tkw_executor executor);

#endif
