/*-------------------------------------------------------------------------
 *
 * order_watch.h
 *		The watch: does a batch break the order of its transaction?
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_ORDER_WATCH_H
#define OU_ORDER_WATCH_H

#include "keyset.h"
#include "plan_cache.h"

extern void ou_watch_check(bool was_locked, BatchPlans *plans,
						   const Keyset *wanted);

#endif							/* OU_ORDER_WATCH_H */
