/*-------------------------------------------------------------------------
 *
 * row_lock.c
 *		Row locks: their strength, and which one this transaction holds.
 *
 * What is held is read from the row's header, as heapam reads it.  Only what
 * is certain is told: a row version that this transaction wrote itself counts
 * as held in full strength, as its header no longer tells how the version
 * before it was locked.  A row that it inserted is held in a way of its own:
 * no batch of another transaction can come to wait for it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/relation.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "row_lock.h"

/*
 * A strength as SQL writes it.
 */
const char *
ou_row_lock_name(LockStrength strength)
{
	switch (strength)
	{
		case STRENGTH_KEY_SHARE:
			return "KEY SHARE";
		case STRENGTH_SHARE:
			return "SHARE";
		case STRENGTH_NO_KEY_UPDATE:
			return "NO KEY UPDATE";
		case STRENGTH_UPDATE:
			return "UPDATE";
		case STRENGTH_AS_NEEDED:
		case STRENGTH_OWN:
			break;
	}
	elog(ERROR, "unrecognized lock strength %d", (int) strength);
}

/*
 * Whether a row that is held with strength held has to be waited for by who
 * wants it with strength wanted, as documented in "Row-Level Locks".
 */
bool
ou_row_lock_conflicts(LockStrength held, LockStrength wanted)
{
	switch (wanted)
	{
		case STRENGTH_KEY_SHARE:
			return held >= STRENGTH_UPDATE;
		case STRENGTH_SHARE:
			return held >= STRENGTH_NO_KEY_UPDATE;
		case STRENGTH_NO_KEY_UPDATE:
			return held >= STRENGTH_SHARE;
		default:
			return held >= STRENGTH_KEY_SHARE;
	}
}

/*
 * Whether two transactions that each hold a row with strength held, or one
 * that holds and one that could hold less beside it, deadlock when both want
 * it with strength wanted.  KEY SHARE goes together with all but UPDATE.
 */
bool
ou_row_lock_upgrade_deadlocks(LockStrength held, LockStrength wanted)
{
	if (held == STRENGTH_AS_NEEDED || held >= wanted)
		return false;
	return wanted == STRENGTH_UPDATE ||
		(held == STRENGTH_SHARE && wanted == STRENGTH_NO_KEY_UPDATE);
}

/*
 * The strength that a member of a multixact stands for.
 */
static LockStrength
member_strength(MultiXactStatus status)
{
	switch (status)
	{
		case MultiXactStatusForKeyShare:
			return STRENGTH_KEY_SHARE;
		case MultiXactStatusForShare:
			return STRENGTH_SHARE;
		case MultiXactStatusForNoKeyUpdate:
		case MultiXactStatusNoKeyUpdate:
			return STRENGTH_NO_KEY_UPDATE;
		default:
			return STRENGTH_UPDATE;
	}
}

/*
 * The strongest lock that this transaction has among the members of a
 * multixact.
 */
static LockStrength
read_multixact(HeapTupleHeader tuple)
{
	MultiXactMember *members;
	LockStrength held = STRENGTH_AS_NEEDED;
	int			nmembers = GetMultiXactIdMembers(HeapTupleHeaderGetRawXmax(tuple), &members,
												 HEAP_LOCKED_UPGRADED(tuple->t_infomask),
												 HEAP_XMAX_IS_LOCKED_ONLY(tuple->t_infomask));

	for (int i = 0; i < nmembers; i++)
		if (TransactionIdIsCurrentTransactionId(members[i].xid))
			held = Max(held, member_strength(members[i].status));
	if (nmembers > 0)
		pfree(members);
	return held;
}

/*
 * The lock that a row header tells this transaction to hold.
 */
static LockStrength
read_header(HeapTupleHeader tuple)
{
	uint16		infomask = tuple->t_infomask;

	if (TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple)))
		return (infomask & HEAP_UPDATED) ? STRENGTH_UPDATE : STRENGTH_OWN;
	if (infomask & HEAP_XMAX_INVALID)
		return STRENGTH_AS_NEEDED;
	if (infomask & HEAP_XMAX_IS_MULTI)
		return read_multixact(tuple);
	if (!TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmax(tuple)))
		return STRENGTH_AS_NEEDED;
	if (!HEAP_XMAX_IS_LOCKED_ONLY(infomask))
		return STRENGTH_UPDATE;
	if (HEAP_XMAX_IS_KEYSHR_LOCKED(infomask))
		return STRENGTH_KEY_SHARE;
	if (HEAP_XMAX_IS_SHR_LOCKED(infomask))
		return STRENGTH_SHARE;
	return (tuple->t_infomask2 & HEAP_KEYS_UPDATED) ? STRENGTH_UPDATE : STRENGTH_NO_KEY_UPDATE;
}

/*
 * The lock that this transaction holds on the row version at ctid of the
 * table relid, which is locked: STRENGTH_AS_NEEDED if none, or if it cannot
 * be told, as where the table was emptied since.
 */
LockStrength
ou_row_lock_held(Oid relid, ItemPointer ctid)
{
	Relation	rel = relation_open(relid, NoLock);
	LockStrength held = STRENGTH_AS_NEEDED;
	HeapTupleData tuple;
	Buffer		buffer;

	if (rel->rd_rel->relam == HEAP_TABLE_AM_OID &&
		ItemPointerGetBlockNumber(ctid) < RelationGetNumberOfBlocks(rel))
	{
		tuple.t_self = *ctid;
		if (heap_fetch(rel, SnapshotAny, &tuple, &buffer, false))
		{
			LockBuffer(buffer, BUFFER_LOCK_SHARE);
			held = read_header(tuple.t_data);
			LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
			ReleaseBuffer(buffer);
		}
	}
	relation_close(rel, NoLock);
	return held;
}
