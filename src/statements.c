/*-------------------------------------------------------------------------
 *
 * statements.c
 *		Ordered statements: the planner hook.
 *
 * While ordered_update.order_statements is on, a query that locks rows gets
 * the primary key of the table whose rows it locks as a sort key, at every
 * level of the query.  The planner does the rest: it uses an index that
 * delivers the order, or puts one Sort below the ModifyTable or LockRows node.
 * Nothing in the executor changes.
 *
 * What is left alone, because an order could change what the statement does,
 * or cannot be had, is written to the log if ordered_update.log_unordered asks
 * for it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/catalog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "parser/parse_clause.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "insert_source.h"
#include "settings.h"
#include "sql_text.h"
#include "statements.h"
#include "target.h"

/* Why a statement is left alone. */
#define REASON_NOT_TABLE "it is not an ordinary or partitioned table"
#define REASON_CATALOG "it is a system catalog"
#define REASON_NO_KEY "it has no primary key"
#define REASON_NO_ORDER "its primary key has a type without an order"
#define REASON_SETS_UNIQUE "a column of a unique index is set"
#define REASON_CURSOR "the row is that of a cursor"
#define REASON_SKIP_LOCKED "locked rows are skipped"
#define REASON_OWN_ORDER "it has ORDER BY"
#define REASON_LIMIT "it has LIMIT or OFFSET"
#define REASON_SEVERAL "rows of several tables are locked"
#define REASON_VOLATILE "the key of a row to insert is a volatile expression"
#define REASON_ANY_CONFLICT "any conflict drops a row, and there are several unique indexes"
#define REASON_NO_VALUE "a row to insert has no value for the key"

static planner_hook_type previous_planner_hook = NULL;

static bool order_tree(Node *node, void *context);

/*
 * Name a kind of statement.
 */
static const char *
statement_name(const Query *query)
{
	switch (query->commandType)
	{
		case CMD_UPDATE:
			return "UPDATE";
		case CMD_DELETE:
			return "DELETE";
		case CMD_INSERT:
			return "INSERT ON CONFLICT";
		case CMD_MERGE:
			return "MERGE";
		default:
			return "SELECT FOR UPDATE or SHARE";
	}
}

/*
 * Say in the log, if asked for, that the rows of a statement's table are not
 * locked in order.
 */
static void
leave_alone(const Query *query, Oid relid, const char *reason)
{
	if (!ou_log_unordered)
		return;
	ereport(LOG,
			(errmsg("%s on \"%s.%s\" is not ordered: %s", statement_name(query),
					get_namespace_name(get_rel_namespace(relid)),
					get_rel_name(relid), reason)));
}

/*
 * Why a relation of the range table has no order of its own, or NULL.
 */
static const char *
find_obstacle(const RangeTblEntry *rte)
{
	if (rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_PARTITIONED_TABLE)
		return REASON_NOT_TABLE;
	if (IsCatalogRelationOid(rte->relid))
		return REASON_CATALOG;
	return NULL;
}

/*
 * Add expr to the sort keys of query, as an output column that is thrown
 * away, unless it is one of the query's output columns already.  False if
 * values of its type have no order.
 */
static bool
add_sort_key(Query *query, Expr *expr)
{
	TargetEntry *entry = NULL;
	SortGroupClause *clause;
	Oid			less_op;
	Oid			equal_op;
	bool		hashable;
	ListCell   *lc;

	get_sort_group_operators(exprType((Node *) expr), false, false, false,
							 &less_op, &equal_op, NULL, &hashable);
	if (!OidIsValid(less_op))
		return false;

	foreach(lc, query->targetList)
		if (equal(((TargetEntry *) lfirst(lc))->expr, expr))
			entry = lfirst(lc);
	if (entry == NULL)
	{
		entry = makeTargetEntry(expr, list_length(query->targetList) + 1, NULL, true);
		query->targetList = lappend(query->targetList, entry);
	}
	clause = makeNode(SortGroupClause);
	clause->tleSortGroupRef = assignSortGroupRef(entry, query->targetList);
	clause->eqop = equal_op;
	clause->sortop = less_op;
	clause->hashable = hashable;
	query->sortClause = lappend(query->sortClause, clause);
	return true;
}

/*
 * Make the column attnum of relation number rti.
 */
static Expr *
make_column(Relation rel, int rti, AttrNumber attnum)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attnum - 1);

	return (Expr *) makeVar(rti, attnum, att->atttypid, att->atttypmod,
							att->attcollation, 0);
}

/*
 * The value that the INSERT of a target list gives to column attnum, or NULL
 * if it gives none.
 */
static Expr *
find_inserted_value(List *targetList, AttrNumber attnum)
{
	ListCell   *lc;

	foreach(lc, targetList)
	{
		TargetEntry *entry = lfirst(lc);

		if (!entry->resjunk && entry->resno == attnum)
			return entry->expr;
	}
	return NULL;
}

/*
 * Attribute numbers that a target list of an UPDATE sets.
 */
static Bitmapset *
find_set_columns(List *targetList)
{
	Bitmapset  *columns = NULL;
	ListCell   *lc;

	foreach(lc, targetList)
	{
		TargetEntry *entry = lfirst(lc);

		if (!entry->resjunk)
			columns = bms_add_member(columns, entry->resno);
	}
	return columns;
}

/*
 * Attribute numbers that the query sets in rows of its target.
 */
static Bitmapset *
find_updated_columns(const Query *query)
{
	Bitmapset  *columns = NULL;
	ListCell   *lc;

	if (query->commandType == CMD_UPDATE)
		return find_set_columns(query->targetList);
	foreach(lc, query->mergeActionList)
	{
		MergeAction *action = lfirst(lc);

		if (action->commandType == CMD_UPDATE)
			columns = bms_add_members(columns, find_set_columns(action->targetList));
	}
	return columns;
}

/*
 * Whether a condition names the current row of a cursor.
 */
static bool
names_cursor_row(Node *quals)
{
	ListCell   *lc;

	if (quals == NULL)
		return false;
	if (IsA(quals, CurrentOfExpr))
		return true;
	if (is_andclause(quals))
		foreach(lc, ((BoolExpr *) quals)->args)
			if (names_cursor_row(lfirst(lc)))
				return true;
	return false;
}

/*
 * The one action of a MERGE that inserts rows, or NULL if there are none or
 * several.
 */
static MergeAction *
find_insert_action(const Query *query)
{
	MergeAction *found = NULL;
	ListCell   *lc;

	foreach(lc, query->mergeActionList)
	{
		MergeAction *action = lfirst(lc);

		if (action->commandType != CMD_INSERT)
			continue;
		if (found != NULL)
			return NULL;
		found = action;
	}
	return found;
}

/*
 * Whether action gives every key column a value that can be a sort key.
 */
static bool
inserts_sortable_key(const MergeAction *action, const List *key)
{
	ListCell   *lc;

	foreach(lc, key)
	{
		Expr	   *value = find_inserted_value(action->targetList, lfirst_int(lc));

		if (value == NULL || contain_volatile_functions((Node *) value))
			return false;
	}
	return true;
}

/*
 * Order by the key of the target's rows, a list of attribute numbers, and,
 * where a MERGE inserts rows, by the key they will have.  NULL, or why not.
 */
static const char *
order_by_target(Query *query, Relation rel, const List *key)
{
	MergeAction *insert = find_insert_action(query);
	ListCell   *lc;

	if (insert != NULL && !inserts_sortable_key(insert, key))
		insert = NULL;
	foreach(lc, key)
	{
		AttrNumber	attnum = lfirst_int(lc);
		Expr	   *expr = make_column(rel, query->resultRelation, attnum);

		if (insert != NULL)
		{
			CoalesceExpr *either = makeNode(CoalesceExpr);

			either->coalescetype = exprType((Node *) expr);
			either->coalescecollid = exprCollation((Node *) expr);
			either->args = list_make2(expr, copyObject(find_inserted_value(insert->targetList, attnum)));
			either->location = -1;
			expr = (Expr *) either;
		}
		if (!add_sort_key(query, expr))
			return REASON_NO_ORDER;
	}
	return NULL;
}

/*
 * Order an UPDATE, DELETE or MERGE by the primary key of its target.
 */
static void
order_change(Query *query)
{
	RangeTblEntry *rte = rt_fetch(query->resultRelation, query->rtable);
	const char *reason = find_obstacle(rte);
	Relation	rel;
	List	   *key;

	if (reason == NULL && names_cursor_row(query->jointree->quals))
		reason = REASON_CURSOR;
	if (reason != NULL)
	{
		leave_alone(query, rte->relid, reason);
		return;
	}

	rel = table_open(rte->relid, NoLock);
	key = ou_target_find_key(rel);
	if (key == NIL)
		reason = REASON_NO_KEY;
	else if (bms_overlap(find_updated_columns(query), ou_target_find_unique_columns(rel)))
		reason = REASON_SETS_UNIQUE;
	else
		reason = order_by_target(query, rel, key);
	table_close(rel, NoLock);
	if (reason != NULL)
		leave_alone(query, rte->relid, reason);
}

/*
 * Find the one table of a SELECT whose rows are locked at this level.
 * Returns its number in the range table, 0 if there is none, and leaves why it
 * must not be ordered in reason.
 */
static int
find_locked_table(const Query *query, const char **reason)
{
	int			found = 0;
	ListCell   *lc;

	*reason = NULL;
	foreach(lc, query->rowMarks)
	{
		RowMarkClause *mark = lfirst(lc);

		if (rt_fetch(mark->rti, query->rtable)->rtekind != RTE_RELATION)
			continue;
		if (mark->waitPolicy == LockWaitSkip)
			*reason = REASON_SKIP_LOCKED;
		else if (found != 0)
			*reason = REASON_SEVERAL;
		found = mark->rti;
	}
	return found;
}

/*
 * Order a SELECT FOR UPDATE or SHARE by the primary key of the locked table.
 */
static void
order_locking(Query *query)
{
	const char *reason;
	int			rti = find_locked_table(query, &reason);
	RangeTblEntry *rte;
	Relation	rel;
	List	   *key;
	ListCell   *lc;

	if (rti == 0)
		return;
	rte = rt_fetch(rti, query->rtable);
	if (reason == NULL)
		reason = find_obstacle(rte);
	if (reason == NULL && query->sortClause != NIL)
		reason = REASON_OWN_ORDER;
	if (reason == NULL && (query->limitCount != NULL || query->limitOffset != NULL))
		reason = REASON_LIMIT;
	if (reason != NULL)
	{
		leave_alone(query, rte->relid, reason);
		return;
	}

	rel = table_open(rte->relid, NoLock);
	key = ou_target_find_key(rel);
	if (key == NIL)
		reason = REASON_NO_KEY;
	foreach(lc, key)
		if (!add_sort_key(query, make_column(rel, rti, lfirst_int(lc))))
			reason = REASON_NO_ORDER;
	table_close(rel, NoLock);
	if (reason != NULL)
		leave_alone(query, rte->relid, reason);
}

/*
 * Whether the DO UPDATE of an upsert sets column attnum to what it is anyway:
 * the arbiter column to the value that was found to be equal.
 */
static bool
keeps_arbiter_column(const OnConflictExpr *conflict, AttrNumber attnum, const List *arbiter)
{
	Expr	   *value = find_inserted_value(conflict->onConflictSet, attnum);
	ListCell   *lc;

	if (!IsA(value, Var) || ((Var *) value)->varno != conflict->exclRelIndex ||
		((Var *) value)->varattno != attnum)
		return false;
	foreach(lc, arbiter)
		if (IsA(lfirst(lc), Var) && ((Var *) lfirst(lc))->varattno == attnum)
			return true;
	return false;
}

/*
 * Whether an upsert sets a column of a unique index in a row that exists.
 */
static bool
upsert_sets_unique(const OnConflictExpr *conflict, Relation rel, const List *arbiter)
{
	Bitmapset  *columns = bms_intersect(find_set_columns(conflict->onConflictSet),
										ou_target_find_unique_columns(rel));
	int			attnum = -1;

	while ((attnum = bms_next_member(columns, attnum)) >= 0)
		if (!keeps_arbiter_column(conflict, attnum, arbiter))
			return true;
	return false;
}

/*
 * Order the rows of an INSERT by the arbiter: a list of columns of the target
 * and expressions over them.  NULL, or why not.
 */
static const char *
order_by_arbiter(Query *query, List *arbiter)
{
	List	   *keys = NIL;
	ListCell   *lc;

	foreach(lc, arbiter)
	{
		Node	   *key = ou_insert_substitute(lfirst(lc), query);

		if (key == NULL)
			return REASON_NO_VALUE;
		if (contain_volatile_functions(key))
			return REASON_VOLATILE;
		keys = lappend(keys, key);
	}
	if (ou_insert_must_settle(query))
		keys = ou_insert_settle(query, keys);
	foreach(lc, keys)
		if (!add_sort_key(query, lfirst(lc)))
			return REASON_NO_ORDER;
	return NULL;
}

/*
 * Order the rows of an INSERT ... ON CONFLICT by the columns of the index that
 * finds the conflict.  A single row needs no order.
 */
static void
order_upsert(Query *query)
{
	RangeTblEntry *rte = rt_fetch(query->resultRelation, query->rtable);
	const char *reason = find_obstacle(rte);
	Relation	rel;
	List	   *arbiter;

	if (query->jointree->fromlist == NIL)
		return;
	if (reason != NULL)
	{
		leave_alone(query, rte->relid, reason);
		return;
	}

	rel = table_open(rte->relid, NoLock);
	arbiter = ou_insert_find_arbiter(query, rel);
	if (arbiter == NIL)
		reason = REASON_NO_KEY;
	else if (query->onConflict->arbiterElems == NIL &&
			 !OidIsValid(query->onConflict->constraint) && !ou_target_has_only_key(rel))
		reason = REASON_ANY_CONFLICT;
	else if (upsert_sets_unique(query->onConflict, rel, arbiter))
		reason = REASON_SETS_UNIQUE;
	else
		reason = order_by_arbiter(query, arbiter);
	table_close(rel, NoLock);
	if (reason != NULL)
		leave_alone(query, rte->relid, reason);
}

/*
 * Order one level of a query.
 */
static void
order_level(Query *query)
{
	switch (query->commandType)
	{
		case CMD_UPDATE:
		case CMD_DELETE:
		case CMD_MERGE:
			order_change(query);
			break;
		case CMD_INSERT:
			if (query->onConflict != NULL)
				order_upsert(query);
			break;
		case CMD_SELECT:
			if (query->rowMarks != NIL)
				order_locking(query);
			break;
		default:
			break;
	}
}

/*
 * Order a query and all queries in it.  A plain query is passed by quickly:
 * its expressions are looked at only if they hold subqueries.
 */
static void
order_query(Query *query)
{
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);

		if (rte->rtekind == RTE_SUBQUERY)
			order_query(rte->subquery);
	}
	foreach(lc, query->cteList)
		order_query(castNode(Query, ((CommonTableExpr *) lfirst(lc))->ctequery));
	if (query->hasSubLinks)
		(void) query_tree_walker(query, order_tree, NULL,
								 QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES);
	order_level(query);
}

/*
 * Walker: order the queries in expressions.
 */
static bool
order_tree(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		order_query((Query *) node);
		return false;
	}
	return expression_tree_walker(node, order_tree, context);
}

/*
 * Plan a query, ordered if the setting asks for it and the query is not one
 * that is ordered already, as those of the verbs are.
 */
static PlannedStmt *
plan_in_order(Query *parse, const char *query_string, int cursorOptions,
			  ParamListInfo boundParams OU_COMPAT_PLANNER_PARAM)
{
	if (ou_order_statements && !(cursorOptions & OU_CURSOR_OPT_ORDERED))
		order_query(parse);
	if (previous_planner_hook != NULL)
		return previous_planner_hook(parse, query_string, cursorOptions,
									 boundParams OU_COMPAT_PLANNER_ARG);
	return standard_planner(parse, query_string, cursorOptions,
							boundParams OU_COMPAT_PLANNER_ARG);
}

/*
 * Install the planner hook, in front of the one that may be there.
 */
void
ou_statements_install(void)
{
	previous_planner_hook = planner_hook;
	planner_hook = plan_in_order;
}
