/*-------------------------------------------------------------------------
 *
 * one_pass.c
 *		Whether the statement that changes rows may be the one that locks them.
 *
 * A change that visits rows in key order locks them in key order, and needs no
 * lock statement before it.  It differs from two passes in three ways, none of
 * which may be told by what comes out.
 *
 * It waits for a row while others wait for the changes that it has made.  Where
 * a change takes a lock that another batch wants too, on a summary row, or can be
 * waited for by who comes from elsewhere than the row, as the check of a unique
 * index does, batches {1,2} and {2,3} can deadlock.  In two passes they cannot:
 * the first locks nothing but rows, the second waits for none.
 *
 * It computes the new row from the version that its snapshot shows, and only if
 * that works does it wait for the row and compute it again from the newest one.
 * What can fail because of the value that is there would fail for a value that is
 * there no more.
 *
 * It changes rows before it is known that all are there, which triggers would
 * see, whatever they are for, and the checks and actions of foreign keys would
 * wait for.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/transam.h"
#include "access/tupdesc.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/readfuncs.h"
#include "optimizer/optimizer.h"
#include "utils/rel.h"
#include "utils/reltrigger.h"

#include "compat.h"
#include "one_pass.h"
#include "unique_columns.h"

/*
 * Whether rel has a trigger on event.  Those of the server's own act on an UPDATE
 * only if it changes a column of a foreign key.
 */
static bool
has_triggers(Relation rel, CmdType event)
{
	for (int i = 0; rel->trigdesc != NULL && i < rel->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &rel->trigdesc->triggers[i];

		if (event == CMD_DELETE ? TRIGGER_FOR_DELETE(trigger->tgtype) :
			TRIGGER_FOR_UPDATE(trigger->tgtype) && !trigger->tgisinternal)
			return true;
	}
	return false;
}

/*
 * Whether one of the columns belongs to a foreign key of rel, the check of which
 * waits for the row that is referenced.
 */
static bool
has_foreign_keys(Relation rel, const Bitmapset *columns)
{
	ListCell   *lc;

	foreach(lc, RelationGetFKeyList(rel))
	{
		const ForeignKeyCacheInfo *key = lfirst(lc);

		for (int i = 0; i < key->nkeys; i++)
			if (bms_is_member(key->conkey[i], columns))
				return true;
	}
	return false;
}

/*
 * Whether a function is not the server's own.
 */
static bool
is_user_defined(Oid funcid, void *context)
{
	return funcid >= FirstNormalObjectId;
}

/*
 * Walker: whether an expression calls a function that is not the server's own,
 * or checks a domain, whose constraints can.  What those functions are declared
 * to be is not asked, as that can be altered without a word to the table.
 */
static bool
calls_user_defined(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, CoerceToDomain) || check_functions_in_node(node, is_user_defined, context))
		return true;
	return expression_tree_walker(node, calls_user_defined, context);
}

/*
 * Whether an expression can lock something, or come out otherwise than when the
 * row was stored.
 */
static bool
is_uncertain(Node *expr)
{
	return calls_user_defined(expr, NULL) || contain_mutable_functions(expr);
}

/*
 * Whether a constraint or a generated column of rel can fail for a row that is
 * stored already when the columns change, or lock something.
 */
static bool
can_fail(Relation rel, const Bitmapset *columns)
{
	TupleDesc	desc = RelationGetDescr(rel);
	const TupleConstr *constr = desc->constr;
	List	   *exprs = NIL;
	ListCell   *lc;

	if (ou_compat_has_invalid_not_null(desc))
		return true;
	for (int i = 0; constr != NULL && i < constr->num_check; i++)
	{
		if (!constr->check[i].ccvalid)
			return true;
		exprs = lappend(exprs, stringToNode(constr->check[i].ccbin));
	}
	for (int i = 0; constr != NULL && i < constr->num_defval; i++)
		if (TupleDescAttr(desc, constr->defval[i].adnum - 1)->attgenerated != '\0')
			exprs = lappend(exprs, stringToNode(constr->defval[i].adbin));
	foreach(lc, exprs)
	{
		if (bms_overlap(ou_unique_columns_add_expression(NULL, rel, lfirst(lc)), columns) ||
			is_uncertain(lfirst(lc)))
			return true;
	}
	return false;
}

/*
 * Whether an index stands in the way of one pass.  By one that rows exclude each
 * other by, who sets or inserts a value waits for whoever has changed or deleted
 * a row that has the same value.  By one that is computed, making its entries can
 * lock something.
 */
static bool
is_in_the_way(Relation index, CmdType event)
{
	Form_pg_index form = index->rd_index;

	if (!form->indisprimary && (form->indisunique || form->indisexclusion))
		return true;
	return event == CMD_UPDATE &&
		(is_uncertain((Node *) RelationGetIndexExpressions(index)) ||
		 is_uncertain((Node *) RelationGetIndexPredicate(index)));
}

/*
 * Whether one of the indexes of rel stands in the way of one pass.
 */
static bool
has_index_in_the_way(Relation rel, CmdType event)
{
	List	   *indexes = RelationGetIndexList(rel);
	bool		found = false;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		found = found || is_in_the_way(index, event);
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	return found;
}

/*
 * Whether the new value of a column can fail to be one because of the value that
 * is there: it is checked by a domain, or is a sum of a type that is narrow, or
 * bounded by a modifier.  Others are taken not to overflow but for good.
 */
static bool
can_overflow(Form_pg_attribute att, const TargetColumn *column, ChangeKind change)
{
	if (att->atttypid != column->type)
		return true;
	if (change == CHANGE_SET)
		return false;
	return column->type == INT2OID || column->type == FLOAT4OID || column->typmod >= 0;
}

/*
 * Whether an UPDATE of the columns can neither wait for rows of other tables nor
 * fail for the values that are there.
 */
static bool
changes_freely(Relation rel, const Target *target, ChangeKind change, const Bitmapset *columns)
{
	int			attnum = -1;

	while ((attnum = bms_next_member(columns, attnum)) > 0)
		if (can_overflow(TupleDescAttr(RelationGetDescr(rel), attnum - 1),
						 &target->columns[attnum - 1], change))
			return false;
	return !has_foreign_keys(rel, columns) && !can_fail(rel, columns);
}

/*
 * Whether a batch of the given shape can lock and change its rows in one pass,
 * as far as its table goes.  Any change of the table, its indexes, triggers or
 * constraints invalidates the answer, and nothing else does.
 *
 * The short form is specified to lock FOR UPDATE, which its change does not.
 * With row security the rows that can be locked are not always those that can
 * be changed.  The partitions of a table can have triggers and indexes of their
 * own, and the constraint of a partition is as good as a CHECK.
 */
bool
ou_one_pass_is_safe(const Target *target, const BatchShape *shape)
{
	CmdType		event = ou_sql_change_event(shape->change);
	Relation	rel;
	bool		result;

	if ((event != CMD_UPDATE && event != CMD_DELETE) ||
		shape->strength != STRENGTH_AS_NEEDED || target->relkind != RELKIND_RELATION)
		return false;
	rel = relation_open(target->relid, NoLock);
	result = !rel->rd_rel->relrowsecurity && !rel->rd_rel->relispartition &&
		!has_triggers(rel, event) && !has_index_in_the_way(rel, event) &&
		(event == CMD_DELETE ||
		 changes_freely(rel, target, shape->change, ou_sql_changed_columns(target, shape)));
	relation_close(rel, NoLock);
	return result;
}
