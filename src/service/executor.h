/*
 * service/executor.h - queries of a service that only this library needs.
 */
#ifndef TKW_SERVICE_EXECUTOR_H
#define TKW_SERVICE_EXECUTOR_H

#include <tickwheel/service.h>

/* Returns whether the service has `executor`. */
bool tkw__service_has(const struct tkw_service *service,
                      enum tkw_executor executor);

#endif
