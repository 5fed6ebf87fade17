/*-------------------------------------------------------------------------
 *
 * one_pass.c
 *		Whether the statement that changes rows may be the one that locks them.
 *
 * A change that visits rows in key order locks them in key order, and needs no
 * lock statement before it.  But it locks a row only after it has changed the
 * one before, with all that comes with a change.  Where that takes a lock that
 * another batch wants too, on a summary row or on an entry of a unique index,
 * batches {1,2} and {2,3} can deadlock in one pass and cannot in two, the first
 * of which locks nothing but rows of the table.
 *
 * Nor may it be seen from outside that rows are changed before it is known that
 * all are there: by triggers, whatever they are for, and by those of a table
 * that a foreign key's action changes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/transam.h"
#include "access/tupdesc.h"
#include "catalog/pg_class.h"
#include "catalog/pg_trigger.h"
#include "nodes/nodeFuncs.h"
#include "nodes/readfuncs.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/reltrigger.h"

#include "one_pass.h"
#include "unique_columns.h"

/*
 * Whether a trigger is one of the server's that changes nothing.  What an UPDATE
 * sets off is none that changes: it does not change a column that a foreign key
 * references.
 */
static bool
is_check(const Trigger *trigger, CmdType event)
{
	return trigger->tgisinternal &&
		(event == CMD_UPDATE || trigger->tgfoid == F_RI_FKEY_NOACTION_DEL ||
		 trigger->tgfoid == F_RI_FKEY_RESTRICT_DEL);
}

/*
 * Whether rel has a trigger on event that is more than a check of the server's.
 */
static bool
has_triggers(Relation rel, CmdType event)
{
	for (int i = 0; rel->trigdesc != NULL && i < rel->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &rel->trigdesc->triggers[i];
		bool		fires = event == CMD_DELETE ? TRIGGER_FOR_DELETE(trigger->tgtype) :
		TRIGGER_FOR_UPDATE(trigger->tgtype);

		if (fires && !is_check(trigger, event))
			return true;
	}
	return false;
}

/*
 * Whether a function is not the server's own.
 */
static bool
is_foreign(Oid funcid, void *context)
{
	return funcid >= FirstNormalObjectId;
}

/*
 * Walker: whether an expression can run queries, and so lock something: it calls
 * a function that is not the server's own, or checks a domain, which can.  What
 * the functions are declared to be is not asked, as that can be altered without
 * a word to the table.
 */
static bool
can_run_queries(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, CoerceToDomain) || check_functions_in_node(node, is_foreign, context))
		return true;
	return expression_tree_walker(node, can_run_queries, context);
}

/*
 * Whether a CHECK constraint or a generated column of rel can run queries.
 */
static bool
has_procedural_columns(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	const TupleConstr *constr = desc->constr;

	for (int i = 0; constr != NULL && i < constr->num_check; i++)
		if (can_run_queries(stringToNode(constr->check[i].ccbin), NULL))
			return true;
	for (int i = 0; constr != NULL && i < constr->num_defval; i++)
		if (TupleDescAttr(desc, constr->defval[i].adnum - 1)->attgenerated != '\0' &&
			can_run_queries(stringToNode(constr->defval[i].adbin), NULL))
			return true;
	return false;
}

/*
 * Whether one of the columns has a domain, whose constraints are checked with
 * each value.
 */
static bool
has_domains(Relation rel, const Target *target, const Bitmapset *columns)
{
	int			attnum = -1;

	while ((attnum = bms_next_member(columns, attnum)) >= 0)
		if (TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atttypid !=
			target->columns[attnum - 1].type)
			return true;
	return false;
}

/*
 * Whether an UPDATE of the columns locks nothing but the rows until all of them
 * are changed.
 */
static bool
locks_only_rows(Relation rel, const Target *target, Bitmapset *columns)
{
	return !bms_overlap(columns, ou_unique_columns_find(rel)) &&
		!has_domains(rel, target, columns) && !has_procedural_columns(rel);
}

/*
 * Whether a batch of the given shape can lock and change its rows in one pass,
 * as far as its table goes.  Any change of the table, its indexes, triggers or
 * constraints invalidates the answer, and nothing else does.
 *
 * The short form is specified to lock FOR UPDATE, which its change does not.
 * With row security the rows that can be locked are not always those that can
 * be changed.  A partition can have triggers and indexes of its own.
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
	result = !rel->rd_rel->relrowsecurity && !has_triggers(rel, event) &&
		(event == CMD_DELETE ||
		 locks_only_rows(rel, target, ou_sql_changed_columns(target, shape)));
	relation_close(rel, NoLock);
	return result;
}
