/*-------------------------------------------------------------------------
 *
 * own_changes.c
 *		Sources of a statement that depend on what it has changed so far.
 *
 * Below a sort a statement reads all its sources before its first change.  That
 * is another result where a source passes by rows that the statement has changed
 * already, as what locks rows does, or where it is a statement in WITH that
 * makes its changes as it is read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "own_changes.h"
#include "procedural_calls.h"

/*
 * Whether a relation can hold rows of the table target: it is this table, or
 * one in a tree of partitions, of which it is not looked in whose.
 */
static bool
can_share_rows(Oid relid, Oid target)
{
	return relid == target || get_rel_relispartition(relid) ||
		get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE;
}

/*
 * Walker: whether a query in a node locks rows of the table target.
 */
static bool
find_row_lock(Node *node, void *target)
{
	Query	   *query = (Query *) node;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, find_row_lock, target);
	foreach(lc, query->rowMarks)
	{
		RangeTblEntry *rte = rt_fetch(lfirst_node(RowMarkClause, lc)->rti, query->rtable);

		if (rte->rtekind == RTE_RELATION && can_share_rows(rte->relid, *(Oid *) target))
			return true;
	}
	return query_tree_walker(query, find_row_lock, target, 0);
}

/*
 * Whether a query inside of a statement locks rows of the table that the
 * statement changes.
 */
bool
ou_own_changes_are_locked(const Query *query)
{
	Oid			target = rt_fetch(query->resultRelation, query->rtable)->relid;

	return query_tree_walker(unconstify(Query *, query), find_row_lock, &target, 0);
}

/*
 * Whether the table relid has triggers that fire before a row is changed.
 */
static bool
has_before_triggers(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	TriggerDesc *triggers = rel->trigdesc;
	bool		result = triggers != NULL &&
	(triggers->trig_insert_before_row || triggers->trig_update_before_row ||
	 triggers->trig_delete_before_row);

	table_close(rel, NoLock);
	return result;
}

/*
 * Whether a statement takes rows from one in WITH that changes rows, where it
 * can matter that the two make their changes in turn: they change the same
 * table, or what the one in WITH calls can see what the other did.
 */
bool
ou_own_changes_are_mixed(const Query *query)
{
	Oid			target = rt_fetch(query->resultRelation, query->rtable)->relid;
	ListCell   *lc;

	foreach(lc, query->cteList)
	{
		CommonTableExpr *with = lfirst(lc);
		Query	   *change = castNode(Query, with->ctequery);
		RangeTblEntry *rte;

		if (change->commandType == CMD_SELECT || with->cterefcount == 0)
			continue;
		rte = rt_fetch(change->resultRelation, change->rtable);
		if (rte->relkind != RELKIND_RELATION || can_share_rows(rte->relid, target) ||
			has_before_triggers(rte->relid) || ou_procedural_calls_exist((Node *) change))
			return true;
	}
	return false;
}
