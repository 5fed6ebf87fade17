/*-------------------------------------------------------------------------
 *
 * merge_actions.c
 *		The actions of a MERGE: which there are, and the key of the rows that
 *		one inserts.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"

#include "compat.h"
#include "merge_actions.h"

/*
 * Whether query is a MERGE with an action that is a command (CMD_INSERT, ...).
 */
bool
ou_merge_acts(const Query *query, CmdType command)
{
	ListCell   *lc;

	foreach(lc, query->mergeActionList)
	{
		if (((MergeAction *) lfirst(lc))->commandType == command)
			return true;
	}
	return false;
}

/*
 * The actions of a MERGE that a row of the source without a row of the target
 * is offered to, in turn, up to the one that inserts.  NIL if none inserts or
 * several do, or if the MERGE acts on rows without a row of the source too:
 * columns of the source could be null then, and the planner would not know.
 */
static List *
find_insert_actions(const Query *query)
{
	List	   *found = NIL;
	bool		inserts = false;
	ListCell   *lc;

	foreach(lc, query->mergeActionList)
	{
		MergeAction *action = lfirst(lc);

		if (ou_compat_is_by_source(action))
			return NIL;
		if (!ou_compat_is_by_target(action))
			continue;
		if (inserts && action->commandType == CMD_INSERT)
			return NIL;
		if (!inserts)
			found = lappend(found, action);
		inserts |= action->commandType == CMD_INSERT;
	}
	return inserts ? found : NIL;
}

/*
 * Make a branch of CASE.
 */
static CaseWhen *
make_branch(Node *condition, Expr *result)
{
	CaseWhen   *branch = makeNode(CaseWhen);

	if (condition == NULL)
		condition = makeBoolConst(true, false);
	branch->expr = (Expr *) copyObject(condition);
	branch->result = result;
	branch->location = -1;
	return branch;
}

/*
 * Make the value that the last of actions gives to column attnum, or null where
 * it does not come to that action: computing the value could fail there.
 * Returns NULL if the column is given no value, or one that must not be
 * computed twice.
 */
static Expr *
make_inserted_value(const List *actions, AttrNumber attnum)
{
	MergeAction *insert = llast(actions);
	TargetEntry *entry = get_tle_by_resno(insert->targetList, attnum);
	CaseExpr   *choice = makeNode(CaseExpr);
	ListCell   *lc;

	if (entry == NULL || contain_volatile_functions((Node *) entry->expr))
		return NULL;
	choice->casetype = exprType((Node *) entry->expr);
	choice->casecollid = exprCollation((Node *) entry->expr);
	choice->defresult = (Expr *) makeNullConst(choice->casetype, -1, choice->casecollid);
	choice->location = -1;
	foreach(lc, actions)
	{
		MergeAction *action = lfirst(lc);

		if (contain_volatile_functions(action->qual))
			return NULL;
		choice->args = lappend(choice->args,
							   make_branch(action->qual, action == insert ?
										   copyObject(entry->expr) : copyObject(choice->defresult)));
	}
	if (list_length(actions) == 1 && insert->qual == NULL)
		return copyObject(entry->expr);
	return (Expr *) choice;
}

/*
 * The values of the columns key, attribute numbers, that the rows will have
 * that query, a MERGE, inserts.  NIL if they cannot be sort keys.
 */
static List *
find_inserted_key(const Query *query, const List *key)
{
	List	   *actions = find_insert_actions(query);
	List	   *values = NIL;
	ListCell   *lc;

	if (actions == NIL)
		return NIL;
	foreach(lc, key)
	{
		Expr	   *value = make_inserted_value(actions, lfirst_int(lc));

		if (value == NULL)
			return NIL;
		values = lappend(values, value);
	}
	return values;
}

/*
 * Whether the rows that query, a MERGE, inserts are sorted by the key they will
 * have.
 */
bool
ou_merge_sorts_inserted(const Query *query, const List *key)
{
	return find_inserted_key(query, key) != NIL;
}

/*
 * Whether the join or an action of a MERGE may read a column of the key of the
 * target, or the target's columns are null in some rows.
 */
static bool
reads_key(const Query *query, const List *key)
{
	Bitmapset  *columns = NULL;
	ListCell   *lc;

	if (query->hasSubLinks || ou_merge_acts(query, CMD_INSERT))
		return true;
	foreach(lc, query->mergeActionList)
	{
		if (ou_compat_is_by_source(lfirst(lc)))
			return true;
	}
	pull_varattnos((Node *) query->mergeActionList, query->resultRelation, &columns);
	foreach(lc, key)
	{
		if (bms_is_member(lfirst_int(lc) - FirstLowInvalidHeapAttributeNumber, columns))
			return true;
	}
	return false;
}

/*
 * Make ROW(columns), which sorts as columns do.
 */
static Expr *
make_row(List *columns)
{
	RowExpr    *row = makeNode(RowExpr);

	row->args = lappend(columns, makeBoolConst(true, false));
	row->row_typeid = RECORDOID;
	row->row_format = COERCE_EXPLICIT_CALL;
	for (int i = 1; i <= list_length(row->args); i++)
		row->colnames = lappend(row->colnames, makeString(psprintf("f%d", i)));
	row->location = -1;
	return (Expr *) row;
}

/*
 * Make COALESCE(first, second, second), which nobody writes: see below.
 */
static Expr *
make_coalesce(Expr *first, Expr *second)
{
	CoalesceExpr *either = makeNode(CoalesceExpr);

	either->coalescetype = exprType((Node *) first);
	either->coalescecollid = exprCollation((Node *) first);
	either->args = list_make3(first, second, copyObject(second));
	either->location = -1;
	return (Expr *) either;
}

/*
 * Make the sort keys of a MERGE out of key, attribute numbers of the target, and
 * its columns.
 *
 * No bare column of the target may be among them if an action reads it: the
 * planner would have the action read it from the row that the join delivered.
 * After a concurrent update, the target's row is a newer one; and where there
 * may be none, the planner stops, as the two are not null in the same rows.  The
 * same holds for an expression that an action has too, which is why these are
 * not such as are written.
 */
List *
ou_merge_make_sort_keys(const Query *query, const List *key, List *columns)
{
	List	   *inserted = find_inserted_key(query, key);
	ListCell   *lc;

	if (inserted == NIL)
		return reads_key(query, key) ? list_make1(make_row(columns)) : columns;
	foreach(lc, columns)
		lfirst(lc) = make_coalesce(lfirst(lc), list_nth(inserted, foreach_current_index(lc)));
	return columns;
}
