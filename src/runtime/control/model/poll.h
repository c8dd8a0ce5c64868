/*
 * Calls that wait for events, under control. Arguments and results are those of the calls that
 * they stand for. Only if c->control.
 */
#ifndef RUNTIME_CONTROL_MODEL_POLL_H
#define RUNTIME_CONTROL_MODEL_POLL_H

#include "runtime/control/model/external.h"

/* Deadlines are virtual. `mask` is the signal mask during the wait, or NULL. */
SNARLRT_HIDDEN int ctl_call_poll(struct snarlrt_call *c, struct pollfd *fds, nfds_t n,
				 uint64_t deadline, const sigset_t *mask);
SNARLRT_HIDDEN int ctl_call_select(struct snarlrt_call *c, int n, fd_set *r, fd_set *w, fd_set *e,
				   struct timeval *timeout);
SNARLRT_HIDDEN int ctl_call_pselect(struct snarlrt_call *c, int n, fd_set *r, fd_set *w, fd_set *e,
				    uint64_t deadline, const sigset_t *mask);
SNARLRT_HIDDEN int ctl_call_epoll(struct snarlrt_call *c, int fd, struct epoll_event *events,
				  int max, uint64_t deadline, const sigset_t *mask);

/* Waits until waitid() will not block. False, with errno set: it must not be called. */
SNARLRT_HIDDEN bool ctl_call_child(struct snarlrt_call *c, idtype_t type, id_t id, int options);

SNARLRT_HIDDEN int ctl_call_sigwait(struct snarlrt_call *c, const sigset_t *set, int *sig);
SNARLRT_HIDDEN int ctl_call_sigtimedwait(struct snarlrt_call *c, const sigset_t *set,
					 siginfo_t *info, const struct timespec *timeout);
SNARLRT_HIDDEN int ctl_call_pause(struct snarlrt_call *c, const sigset_t *mask);

#endif
