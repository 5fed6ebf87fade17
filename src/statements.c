/*-------------------------------------------------------------------------
 *
 * statements.c
 *		Ordered statements: the planner hook.
 *
 * While ordered_update.order_statements is on, a query that locks rows gets
 * the primary key of the table whose rows it locks as a sort key, at every
 * level of the query.  The planner does the rest: it uses an index that
 * delivers the order, or puts one Sort below the ModifyTable or LockRows node.
 * The plans are the server's own.
 *
 * The statements of the verbs pass through here too, whatever the setting: they
 * are planned to look rows up, and those that lock rows as they change them are
 * given the order.
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
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "parser/parse_clause.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "insert_source.h"
#include "merge_actions.h"
#include "own_changes.h"
#include "plan_cache.h"
#include "procedural_calls.h"
#include "settings.h"
#include "sql_text.h"
#include "statements.h"
#include "target.h"
#include "unique_columns.h"

/* Why a statement is left alone. */
#define REASON_NOT_TABLE "it is not an ordinary or partitioned table"
#define REASON_CATALOG "it is a system catalog"
#define REASON_NO_KEY "it has no primary key"
#define REASON_NO_ORDER "its primary key has a type without an order"
#define REASON_SETS_UNIQUE "a column of a unique index is set"
#define REASON_PROCEDURAL "a volatile function that can run queries chooses or makes its rows"
#define REASON_MULTIPLE "several columns are set to the result of one subquery"
#define REASON_LOCKED_SOURCE "a query in it locks rows of the same table"
#define REASON_MIXED "a statement in WITH and one that takes rows from it make changes in turn"
#define REASON_TRIGGER "a BEFORE INSERT trigger can change what rows exclude each other by"
#define REASON_CURSOR "the row is that of a cursor"
#define REASON_SKIP_LOCKED "locked rows are skipped"
#define REASON_OWN_ORDER "it has ORDER BY"
#define REASON_LIMIT "it has LIMIT or OFFSET"
#define REASON_SEVERAL "rows of several tables are locked"
#define REASON_INSIDE "its rows are locked inside of a view or subquery, or without its key"
#define REASON_VOLATILE "the key of a row to insert is a volatile expression"
#define REASON_ANY_CONFLICT "any conflict drops a row, and there are several unique indexes"
#define REASON_NO_VALUE "a row to insert has no value for the key"
#define REASON_SET "rows to insert are made by a set-returning function"
#define REASON_FIRST_WINS "rows that are not equal in their order exclude each other"
#define REASON_PARTIAL "the arbiter is an expression that not every row may have"
#define REASON_REPLACES "rows are deleted and inserted, and a further index is unique"
#define REASON_INSERTS "the rows that it inserts have no key to order by"

static planner_hook_type previous_planner_hook = NULL;

static void order_query(Query *query);
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
 * Add expr to the sort keys of query, as an output column that is thrown away,
 * or, of an INSERT, as the output column that it is already.  False if values
 * of its type have no order.
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
	{
		if (query->commandType == CMD_INSERT && equal(((TargetEntry *) lfirst(lc))->expr, expr))
			entry = lfirst(lc);
	}
	if (entry == NULL)
	{
		entry = makeTargetEntry(expr, list_length(query->targetList) + 1,
								psprintf(OU_SORT_KEY_NAME, list_length(query->sortClause) + 1),
								true);
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
 * Add expressions to the sort keys of query.  NULL, or why it is not ordered.
 */
static const char *
add_sort_keys(Query *query, const List *exprs)
{
	ListCell   *lc;

	foreach(lc, exprs)
	{
		if (!add_sort_key(query, lfirst(lc)))
			return REASON_NO_ORDER;
	}
	return NULL;
}

/*
 * Make the column attnum of relation number rti, which is the table relid.
 */
static Expr *
make_column(Oid relid, int rti, AttrNumber attnum)
{
	Oid			type;
	int32		typmod;
	Oid			collation;

	get_atttypetypmodcoll(relid, attnum, &type, &typmod, &collation);
	return (Expr *) makeVar(rti, attnum, type, typmod, collation, 0);
}

/*
 * Make the columns attnums of relation number rti, which is the table relid.
 */
static List *
make_columns(Oid relid, int rti, const List *attnums)
{
	List	   *columns = NIL;
	ListCell   *lc;

	foreach(lc, attnums)
		columns = lappend(columns, make_column(relid, rti, lfirst_int(lc)));
	return columns;
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
 * Whether an UPDATE sets several columns to the result of one subquery.  The
 * planner, which never sorts an UPDATE otherwise, could put the subquery above
 * the sort and what takes its results below.
 */
static bool
sets_columns_at_once(const Query *query)
{
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		Expr	   *expr = ((TargetEntry *) lfirst(lc))->expr;

		if (IsA(expr, SubLink) && ((SubLink *) expr)->subLinkType == MULTIEXPR_SUBLINK)
			return true;
	}
	return false;
}

/*
 * Why a statement cannot read all its sources before it makes its first change,
 * or NULL.
 */
static const char *
find_dependence(const Query *query)
{
	if (ou_procedural_calls_choose_rows(query))
		return REASON_PROCEDURAL;
	if (ou_own_changes_are_locked(query))
		return REASON_LOCKED_SOURCE;
	if (ou_own_changes_are_mixed(query))
		return REASON_MIXED;
	return NULL;
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
	{
		foreach(lc, ((BoolExpr *) quals)->args)
		{
			if (names_cursor_row(lfirst(lc)))
				return true;
		}
	}
	return false;
}

/*
 * Have a MERGE insert a row after it has deleted one of the same key.
 */
static void
put_inserts_last(Query *query, Relation rel, AttrNumber attnum)
{
	NullTest   *is_new = makeNode(NullTest);

	is_new->arg = make_column(RelationGetRelid(rel), query->resultRelation, attnum);
	is_new->nulltesttype = IS_NULL;
	is_new->location = -1;
	(void) add_sort_key(query, (Expr *) is_new);
}

/*
 * Order by the key of the target's rows, a list of attribute numbers, and,
 * where a MERGE inserts rows, by the key they will have.  NULL, or why not all
 * rows are ordered.
 */
static const char *
order_by_target(Query *query, Relation rel, const List *key)
{
	List	   *columns = make_columns(RelationGetRelid(rel), query->resultRelation, key);
	ListCell   *lc;

	if (query->commandType == CMD_MERGE)
		columns = ou_merge_make_sort_keys(query, key, columns);
	foreach(lc, columns)
	{
		if (!add_sort_key(query, lfirst(lc)))
			return REASON_NO_ORDER;
	}
	if (ou_merge_acts(query, CMD_INSERT) && ou_merge_acts(query, CMD_DELETE))
		put_inserts_last(query, rel, linitial_int(key));
	if (ou_merge_acts(query, CMD_INSERT) && !ou_merge_sorts_inserted(query, key))
		return REASON_INSERTS;
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
	if (reason == NULL && sets_columns_at_once(query))
		reason = REASON_MULTIPLE;
	if (reason == NULL)
		reason = find_dependence(query);
	if (reason != NULL)
	{
		leave_alone(query, rte->relid, reason);
		return;
	}

	rel = table_open(rte->relid, NoLock);
	key = ou_target_find_key(rel);
	if (key == NIL)
		reason = REASON_NO_KEY;
	else if (bms_overlap(find_updated_columns(query), ou_unique_columns_find(rel)))
		reason = REASON_SETS_UNIQUE;
	else if (ou_merge_acts(query, CMD_INSERT) && ou_merge_acts(query, CMD_DELETE) &&
			 !ou_unique_columns_are_key(rel))
		reason = REASON_REPLACES;
	else if (ou_merge_acts(query, CMD_INSERT) && !ou_compat_marks_merge_target())
		reason = REASON_INSERTS;
	else
		reason = order_by_target(query, rel, key);
	table_close(rel, NoLock);
	if (reason != NULL)
		leave_alone(query, rte->relid, reason);
}

/*
 * Whether the planner makes a subquery part of the query around it, as
 * is_simple_subquery() of the planner says, so that its rows are locked there.
 */
static bool
is_pulled_up(const RangeTblEntry *rte)
{
	const Query *subquery = rte->subquery;

	return !rte->security_barrier && subquery->setOperations == NULL &&
		!subquery->hasAggs && !subquery->hasWindowFuncs && !subquery->hasTargetSRFs &&
		subquery->groupClause == NIL && subquery->groupingSets == NIL &&
		subquery->havingQual == NULL && subquery->sortClause == NIL &&
		subquery->distinctClause == NIL && subquery->limitOffset == NULL &&
		subquery->limitCount == NULL && subquery->cteList == NIL &&
		!contain_volatile_functions((Node *) subquery->targetList);
}

/*
 * Whether the lock of mark goes on to the tables of a view or subquery.  One
 * with FOR UPDATE or SHARE of its own locks its rows by itself.
 */
static bool
goes_on(const Query *query, const RowMarkClause *mark)
{
	const RangeTblEntry *rte = rt_fetch(mark->rti, query->rtable);

	return rte->rtekind == RTE_SUBQUERY && !rte->subquery->hasForUpdate;
}

/*
 * Collect into tables the range table entries of the tables whose rows are
 * locked at this level.  Returns why they must not be ordered, or NULL.
 */
static const char *
find_locked_tables(const Query *query, List **tables)
{
	const char *reason = NULL;
	ListCell   *lc;

	foreach(lc, query->rowMarks)
	{
		RowMarkClause *mark = lfirst(lc);
		RangeTblEntry *rte = rt_fetch(mark->rti, query->rtable);
		const char *inner = NULL;

		if (rte->rtekind == RTE_RELATION)
		{
			*tables = lappend(*tables, rte);
			if (mark->waitPolicy == LockWaitSkip)
				inner = REASON_SKIP_LOCKED;
		}
		else if (goes_on(query, mark))
		{
			inner = find_locked_tables(rte->subquery, tables);
			if (inner == NULL && !is_pulled_up(rte))
				inner = REASON_INSIDE;
		}
		if (inner != NULL)
			reason = inner;
	}
	return reason;
}

/*
 * Find the column attnum of the one table whose rows are locked, in what the
 * views and subqueries hand up to this level.  NULL if they do not.
 */
static Expr *
find_locked_column(const Query *query, AttrNumber attnum)
{
	ListCell   *lc;

	foreach(lc, query->rowMarks)
	{
		RowMarkClause *mark = lfirst(lc);
		RangeTblEntry *rte = rt_fetch(mark->rti, query->rtable);
		Expr	   *inner;
		TargetEntry *entry;

		if (rte->rtekind == RTE_RELATION)
			return make_column(rte->relid, mark->rti, attnum);
		if (!goes_on(query, mark))
			continue;
		inner = find_locked_column(rte->subquery, attnum);
		entry = inner == NULL ? NULL : tlist_member(inner, rte->subquery->targetList);
		if (entry != NULL)
			return (Expr *) makeVarFromTargetEntry(mark->rti, entry);
	}
	return NULL;
}

/*
 * Order by the key of the one table whose rows are locked.  NULL, or why not.
 */
static const char *
order_by_locked(Query *query, Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	List	   *key = ou_target_find_key(rel);
	List	   *columns = NIL;
	ListCell   *lc;

	table_close(rel, NoLock);
	if (key == NIL)
		return REASON_NO_KEY;
	foreach(lc, key)
	{
		Expr	   *column = find_locked_column(query, lfirst_int(lc));

		if (column == NULL)
			return REASON_INSIDE;
		columns = lappend(columns, column);
	}
	return add_sort_keys(query, columns);
}

/*
 * Order a SELECT FOR UPDATE or SHARE by the primary key of the locked table.
 */
static void
order_locking(Query *query)
{
	List	   *tables = NIL;
	const char *reason = find_locked_tables(query, &tables);
	RangeTblEntry *rte;

	if (tables == NIL)
		return;
	rte = llast(tables);
	if (reason == NULL && list_length(tables) > 1)
		reason = REASON_SEVERAL;
	if (reason == NULL)
		reason = find_obstacle(rte);
	if (reason == NULL && query->sortClause != NIL)
		reason = REASON_OWN_ORDER;
	if (reason == NULL && (query->limitCount != NULL || query->limitOffset != NULL))
		reason = REASON_LIMIT;
	if (reason == NULL && ou_procedural_calls_choose_rows(query))
		reason = REASON_PROCEDURAL;
	if (reason == NULL)
		reason = order_by_locked(query, rte->relid);
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
	Expr	   *value = get_tle_by_resno(conflict->onConflictSet, attnum)->expr;
	ListCell   *lc;

	if (!IsA(value, Var) || ((Var *) value)->varno != conflict->exclRelIndex ||
		((Var *) value)->varattno != attnum)
		return false;
	foreach(lc, arbiter)
	{
		if (IsA(lfirst(lc), Var) && ((Var *) lfirst(lc))->varattno == attnum)
			return true;
	}
	return false;
}

/*
 * Whether an upsert sets a column of a unique index in a row that exists.
 */
static bool
upsert_sets_unique(const OnConflictExpr *conflict, Relation rel, const List *arbiter)
{
	Bitmapset  *columns = bms_intersect(find_set_columns(conflict->onConflictSet),
										ou_unique_columns_find(rel));
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
	return add_sort_keys(query, keys);
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

	if (query->jointree->fromlist == NIL && !query->hasTargetSRFs)
		return;
	if (reason == NULL)
		reason = find_dependence(query);
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
			 !OidIsValid(query->onConflict->constraint) && !ou_unique_columns_are_key(rel))
		reason = REASON_ANY_CONFLICT;
	else if (query->hasTargetSRFs)
		reason = REASON_SET;
	else if (ou_insert_has_partial_expression(query))
		reason = REASON_PARTIAL;
	else if (ou_insert_is_changed_first(query, rel))
		reason = REASON_TRIGGER;
	else if (!ou_insert_keeps_first(query, rel))
		reason = REASON_FIRST_WINS;
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
			if (query->hasForUpdate)
				order_locking(query);
			break;
		default:
			break;
	}
}

/*
 * Order the statements in WITH of a query.  One that changes rows in turn with
 * the query itself is left alone as the query is.
 */
static void
order_with(Query *query)
{
	bool		is_mixed = query->hasModifyingCTE && query->resultRelation > 0 &&
	ou_own_changes_are_mixed(query);
	ListCell   *lc;

	foreach(lc, query->cteList)
	{
		Query	   *with = castNode(Query, ((CommonTableExpr *) lfirst(lc))->ctequery);

		if (is_mixed && with->commandType != CMD_SELECT)
			leave_alone(with, rt_fetch(with->resultRelation, with->rtable)->relid,
						REASON_MIXED);
		else
			order_query(with);
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

	check_stack_depth();
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);

		if (rte->rtekind == RTE_SUBQUERY)
			order_query(rte->subquery);
	}
	order_with(query);
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
 * Order the statement of a verb that locks rows as it changes them, and tell the
 * verb so.  The statement is made so that it can be.  Its sort keys have no
 * names: a verb records itself how far it has come.
 */
static void
order_verb_statement(Query *query)
{
	Oid			relid = rt_fetch(query->resultRelation, query->rtable)->relid;
	Relation	rel = table_open(relid, NoLock);
	const char *reason = order_by_target(query, rel, ou_target_find_key(rel));
	ListCell   *lc;

	table_close(rel, NoLock);
	if (reason != NULL || query->sortClause == NIL)
		elog(ERROR, "no order for a batch on relation %u", relid);
	foreach(lc, query->targetList)
	{
		TargetEntry *entry = lfirst(lc);

		if (entry->ressortgroupref > 0)
			entry->resname = NULL;
	}
	ou_plans_note_order();
}

/*
 * Plan a query as if this were not here.
 */
static PlannedStmt *
plan_unchanged(Query *parse, const char *query_string, int cursorOptions,
			   ParamListInfo boundParams OU_COMPAT_PLANNER_PARAM)
{
	if (previous_planner_hook != NULL)
		return previous_planner_hook(parse, query_string, cursorOptions,
									 boundParams OU_COMPAT_PLANNER_ARG);
	return standard_planner(parse, query_string, cursorOptions,
							boundParams OU_COMPAT_PLANNER_ARG);
}

/*
 * Have the planner look rows up one by one, by their keys or by where they are,
 * until the current level of settings ends.
 */
static void
prefer_lookups(void)
{
	static const char *const others[] = {"enable_seqscan", "enable_hashjoin", "enable_mergejoin"};

	for (int i = 0; i < (int) lengthof(others); i++)
		(void) set_config_option(others[i], "off", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
}

/*
 * Plan a statement of a verb, which says itself whether it has its order or is
 * to be given it.
 *
 * Its plan is kept for batches of any size and for a table of any size, hot and
 * bloated as it may be: rows are not to be looked for among all rows of the
 * table, however few there are now.  With row security a policy can leave no
 * choice but that, and can have queries of its own.
 */
static PlannedStmt *
plan_verb_statement(Query *parse, const char *query_string, int cursorOptions,
					ParamListInfo boundParams OU_COMPAT_PLANNER_PARAM)
{
	int			nestlevel = NewGUCNestLevel();
	PlannedStmt *stmt;

	if (!parse->hasRowSecurity)
		prefer_lookups();
	if (cursorOptions & OU_CURSOR_OPT_GIVE_ORDER)
		order_verb_statement(parse);
	stmt = plan_unchanged(parse, query_string, cursorOptions,
						  boundParams OU_COMPAT_PLANNER_ARG);
	AtEOXact_GUC(true, nestlevel);
	ou_compat_stop_exec_pruning(stmt);
	return stmt;
}

/*
 * Plan a query, ordered if the setting asks for it.
 */
static PlannedStmt *
plan_in_order(Query *parse, const char *query_string, int cursorOptions,
			  ParamListInfo boundParams OU_COMPAT_PLANNER_PARAM)
{
	PlannedStmt *stmt;

	if (cursorOptions & (OU_CURSOR_OPT_HAS_ORDER | OU_CURSOR_OPT_GIVE_ORDER))
		return plan_verb_statement(parse, query_string, cursorOptions,
								   boundParams OU_COMPAT_PLANNER_ARG);
	if (ou_order_statements)
		order_query(parse);
	stmt = plan_unchanged(parse, query_string, cursorOptions,
						  boundParams OU_COMPAT_PLANNER_ARG);
	if (ou_order_statements &&
		(stmt->commandType != CMD_SELECT || stmt->rowMarks != NIL || stmt->hasModifyingCTE))
		ou_compat_stop_exec_pruning(stmt);
	return stmt;
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
