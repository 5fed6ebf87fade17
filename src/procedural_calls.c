/*-------------------------------------------------------------------------
 *
 * procedural_calls.c
 *		Functions that can see what the statement has changed so far.
 *
 * A volatile function with queries in it sees the rows that the statement has
 * changed before it is called (documentation, "Function Volatility
 * Categories").  Called in WHERE, it is called row by row between the changes.
 * Below a sort it would be called for all rows before the first change, and
 * could choose other rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "utils/syscache.h"

#include "compat.h"
#include "procedural_calls.h"

static bool find_call(Node *node, void *context);
static bool find_call_in_query(Query *query, bool is_first);

/*
 * Whether a function is volatile and has queries in it, which those of the
 * server and of C extensions hardly have.
 */
static bool
has_queries(Oid funcid, void *context)
{
	HeapTuple	tuple;
	Form_pg_proc form;
	bool		result;

	if (funcid < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", funcid);
	form = (Form_pg_proc) GETSTRUCT(tuple);
	result = form->provolatile == PROVOLATILE_VOLATILE &&
		form->prolang != INTERNALlanguageId && form->prolang != ClanguageId;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Whether there is such a call in what a query takes its rows from.  is_first
 * tells that the query is read to its end before the first change: then a
 * function in its FROM that takes nothing from other rows has returned all of
 * its rows by then anyway.  A statement in WITH that changes rows is another's
 * business.
 */
static bool
find_call_in_sources(const Query *query, bool is_first)
{
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);

		if (rte->rtekind == RTE_FUNCTION && !rte->lateral && is_first)
			continue;
		if (rte->rtekind == RTE_SUBQUERY && !rte->lateral && is_first)
		{
			if (find_call_in_query(rte->subquery, rte->subquery->setOperations == NULL))
				return true;
		}
		else if (range_table_entry_walker(rte, find_call, NULL, 0))
			return true;
	}
	foreach(lc, query->cteList)
	{
		Query	   *with = castNode(Query, ((CommonTableExpr *) lfirst(lc))->ctequery);

		if (with->commandType == CMD_SELECT && find_call((Node *) with, NULL))
			return true;
	}
	return false;
}

/*
 * Whether there is such a call in a query, which is_first as above.
 */
static bool
find_call_in_query(Query *query, bool is_first)
{
	return query_tree_walker(query, find_call, NULL,
							 QTW_IGNORE_RANGE_TABLE | QTW_IGNORE_CTE_SUBQUERIES) ||
		find_call_in_sources(query, is_first);
}

/*
 * Walker: whether there is such a call in a node.
 */
static bool
find_call(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (check_functions_in_node(node, has_queries, context))
		return true;
	if (IsA(node, Query))
		return find_call_in_query((Query *) node, false);
	return expression_tree_walker(node, find_call, context);
}

/*
 * Walker: whether there is such a call in a subquery of an expression.
 */
static bool
find_call_in_subquery(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubLink))
		return find_call(((SubLink *) node)->subselect, context);
	return expression_tree_walker(node, find_call_in_subquery, context);
}

/*
 * Whether a node calls a function with queries in it.
 */
bool
ou_procedural_calls_exist(Node *node)
{
	return find_call(node, NULL);
}

/*
 * Whether a call of a function with queries in it takes part in choosing the
 * rows that query changes or locks, or in making the rows that it inserts.  What
 * is computed above the sort, row by row as before, is of no concern: new values
 * are, but for those of subqueries, in which the planner looks for no functions.
 */
bool
ou_procedural_calls_choose_rows(const Query *query)
{
	return find_call((Node *) query->jointree, NULL) ||
		find_call(ou_compat_merge_condition(query), NULL) ||
		find_call_in_sources(query, true) ||
		(query->commandType == CMD_INSERT && find_call((Node *) query->targetList, NULL)) ||
		(query->hasSubLinks && find_call_in_subquery((Node *) query->targetList, NULL));
}
