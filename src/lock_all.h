/*-------------------------------------------------------------------------
 *
 * lock_all.h
 *		Rows of several tables, locked in one order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_LOCK_ALL_H
#define OU_LOCK_ALL_H

#include "utils/jsonb.h"

#include "batch.h"

extern int64 ou_lock_all(Jsonb *targets, const Batch *common);

#endif							/* OU_LOCK_ALL_H */
