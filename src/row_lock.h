/*-------------------------------------------------------------------------
 *
 * row_lock.h
 *		Row locks: their strength, and which one this transaction holds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_ROW_LOCK_H
#define OU_ROW_LOCK_H

#include "storage/itemptr.h"

/* Row lock, in ascending strength. */
typedef enum LockStrength
{
	STRENGTH_AS_NEEDED,			/* what the change needs; of a held lock: none */
	STRENGTH_KEY_SHARE,
	STRENGTH_SHARE,
	STRENGTH_NO_KEY_UPDATE,
	STRENGTH_UPDATE,
	STRENGTH_OWN				/* of a held lock: the row is new, and nobody
								 * else can see it */
} LockStrength;

extern const char *ou_row_lock_name(LockStrength strength);
extern bool ou_row_lock_conflicts(LockStrength held, LockStrength wanted);
extern bool ou_row_lock_upgrade_deadlocks(LockStrength held, LockStrength wanted);
extern LockStrength ou_row_lock_held(Oid relid, ItemPointer ctid);

#endif							/* OU_ROW_LOCK_H */
