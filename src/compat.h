/*-------------------------------------------------------------------------
 *
 * compat.h
 *		Differences between server versions.
 *
 * The only file that looks at PG_VERSION_NUM.  What differs is an inline
 * function here; its callers do not know.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_COMPAT_H
#define OU_COMPAT_H

#include "access/stratnum.h"
#include "access/tupdesc.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "storage/lock.h"
#include "storage/lockdefs.h"
#include "utils/acl.h"
#include "utils/relcache.h"
#include "utils/sortsupport.h"

#if PG_VERSION_NUM < 150000
#error "ordered_update needs PostgreSQL 15 or newer"
#endif

/*
 * Set up a comparator for the ascending order of an index column.
 */
static inline void
ou_compat_prepare_index_order(Relation index, SortSupport order)
{
#if PG_VERSION_NUM >= 180000
	PrepareSortSupportFromIndexRel(index, false, order);
#else
	PrepareSortSupportFromIndexRel(index, BTLessStrategyNumber, order);
#endif
}

/*
 * Have the plans of stmt leave no partition out for what a parameter turns out
 * to be while they run.
 *
 * From 18 on, the re-check of a row that another transaction has changed prunes
 * by the parameters of the plan that it re-checks for, not by its own.  Those
 * are of the row at hand only as long as nothing, such as a Sort, reads on
 * ahead of it: else the row is looked for in the wrong partition and passed by
 * as if it no longer met the condition.
 */
static inline void
ou_compat_stop_exec_pruning(PlannedStmt *stmt)
{
#if PG_VERSION_NUM >= 180000
	ListCell   *info;
	ListCell   *hierarchy;
	ListCell   *table;

	foreach(info, stmt->partPruneInfos)
		foreach(hierarchy, lfirst_node(PartitionPruneInfo, info)->prune_infos)
		foreach(table, (List *) lfirst(hierarchy))
	{
		PartitionedRelPruneInfo *pruning = lfirst_node(PartitionedRelPruneInfo, table);

		pruning->exec_pruning_steps = NIL;
		pruning->execparamids = NULL;
	}
#endif
}

/*
 * Whether this transaction holds a lock of the given mode or a stronger one.
 */
static inline bool
ou_compat_lock_is_held(const LOCKTAG *tag, LOCKMODE mode)
{
#if PG_VERSION_NUM >= 170000
	return LockHeldByMe(tag, mode, true);
#else
	for (; mode <= MaxLockMode; mode++)
		if (LockHeldByMe(tag, mode))
			return true;
	return false;
#endif
}

/*
 * Whether the current user may call a function.
 */
static inline AclResult
ou_compat_check_function(Oid function)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE);
#else
	return pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE);
#endif
}

/*
 * Whether an action of a MERGE is for rows of the target that no row of the
 * source matches.
 */
static inline bool
ou_compat_is_by_source(const MergeAction *action)
{
#if PG_VERSION_NUM >= 170000
	return action->matchKind == MERGE_WHEN_NOT_MATCHED_BY_SOURCE;
#else
	return false;
#endif
}

/*
 * Whether an action of a MERGE is for rows of the source that match no row of
 * the target.
 */
static inline bool
ou_compat_is_by_target(const MergeAction *action)
{
#if PG_VERSION_NUM >= 170000
	return action->matchKind == MERGE_WHEN_NOT_MATCHED_BY_TARGET;
#else
	return !action->matched;
#endif
}

/*
 * The condition that joins the source of a MERGE to its target, where it is not
 * among those of the query.
 */
static inline Node *
ou_compat_merge_condition(const Query *query)
{
#if PG_VERSION_NUM >= 170000
	return query->mergeJoinCondition;
#else
	return NULL;
#endif
}

/*
 * Whether the planner of a MERGE that inserts rows takes note that columns of
 * the target in its target list can be null.  Version 15 needs no note; 16
 * does and takes none, as a MERGE has no target list of its own there.
 */
static inline bool
ou_compat_marks_merge_target(void)
{
#if PG_VERSION_NUM >= 160000 && PG_VERSION_NUM < 170000
	return false;
#else
	return true;
#endif
}

/*
 * Whether a column of a table was declared NOT NULL without looking at the rows
 * that were there.
 */
static inline bool
ou_compat_has_invalid_not_null(TupleDesc desc)
{
#if PG_VERSION_NUM >= 180000
	for (int i = 0; i < desc->natts; i++)
		if (TupleDescCompactAttr(desc, i)->attnullability == ATTNULLABLE_INVALID)
			return true;
#endif
	return false;
}

/*
 * What planner hooks take behind the parameters that all versions share.
 */
#if PG_VERSION_NUM >= 190000
#define OU_COMPAT_PLANNER_PARAM , ExplainState *es
#define OU_COMPAT_PLANNER_ARG , es
#else
#define OU_COMPAT_PLANNER_PARAM
#define OU_COMPAT_PLANNER_ARG
#endif

/*
 * Finish a row descriptor made by hand.
 */
static inline void
ou_compat_finish_tupdesc(TupleDesc desc)
{
#if PG_VERSION_NUM >= 190000
	TupleDescFinalize(desc);
#endif
}

#endif							/* OU_COMPAT_H */
