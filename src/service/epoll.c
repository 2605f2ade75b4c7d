/*
 * service/epoll.c - external definitions of the inline functions of epoll.h.
 */
#include <tickwheel/epoll.h>

extern inline int tkw_epoll_add(struct tkw_service *service, int epoll,
                                epoll_data_t data);
extern inline int tkw_epoll_remove(struct tkw_service *service, int epoll);
