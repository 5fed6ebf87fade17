/*-------------------------------------------------------------------------
 *
 * statement_watch.c
 *		Ordered statements as part of the order of their transaction.
 *
 * The rows of an ordered statement come to its ModifyTable or LockRows node in
 * key order, with their keys, so that the last one tells how far the statement
 * has come.  The function that delivers them is wrapped: a custom scan node
 * would do the same, but show in every EXPLAIN.
 *
 * Only what runs inside a transaction block or a function is watched: a
 * statement alone in its transaction has nothing to come after it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "lib/ilist.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/rel.h"

#include "order_check.h"
#include "settings.h"
#include "statement_watch.h"
#include "statements.h"

/* A node whose rows are watched. */
typedef struct Watch
{
	dlist_node	node;
	PlanState  *source;			/* delivers the rows */
	ExecProcNodeMtd deliver;	/* its own function to do so */
	RowPosition last;			/* last row delivered; its relid is 0 if none */
	Oid			relid;			/* table that the statement names */
	AttrNumber	ctid;			/* fields of the rows: where they are, */
	AttrNumber	tableoid;		/* 0 if all are in relid, */
	int			nkeys;
	AttrNumber	keys[INDEX_MAX_KEYS];	/* and their keys */
} Watch;

/* The watches of all running statements, in the memory of these. */
static dlist_head watches = DLIST_STATIC_INIT(watches);

static ExecutorStart_hook_type previous_start_hook = NULL;

/*
 * Find the watch of a node.
 */
static Watch *
find_watch(const PlanState *source)
{
	dlist_iter	iter;

	dlist_foreach(iter, &watches)
	{
		Watch	   *watch = dlist_container(Watch, node, iter.cur);

		if (watch->source == source)
			return watch;
	}
	return NULL;
}

/*
 * Remember a row.  One that a MERGE is about to insert is nowhere yet, and not
 * remembered.
 */
static void
remember(Watch *watch, TupleTableSlot *row)
{
	Datum		keys[INDEX_MAX_KEYS];
	Datum		ctid;
	bool		isnull;

	ctid = slot_getattr(row, watch->ctid, &isnull);
	if (isnull)
		return;
	watch->last.ctid = *(ItemPointer) DatumGetPointer(ctid);
	watch->last.tableoid = watch->relid;
	if (watch->tableoid > 0)
		watch->last.tableoid = DatumGetObjectId(slot_getattr(row, watch->tableoid, &isnull));
	for (int i = 0; i < watch->nkeys; i++)
		keys[i] = slot_getattr(row, watch->keys[i], &isnull);
	ou_order_copy_row(&watch->last, keys);
	watch->last.relid = watch->relid;
}

/*
 * Deliver the next row of a watched node, and note at the end how far it went.
 */
static TupleTableSlot *
deliver_watched(PlanState *source)
{
	Watch	   *watch = find_watch(source);
	TupleTableSlot *row = watch->deliver(source);

	if (!TupIsNull(row))
		remember(watch, row);
	else if (OidIsValid(watch->last.relid))
		ou_order_note_row(&watch->last);
	return row;
}

/*
 * Forget a watch when the memory of its statement goes.
 */
static void
forget(void *watch)
{
	dlist_delete(&((Watch *) watch)->node);
}

/*
 * Find the field of a plan's rows that has a given name and is thrown away
 * behind the plan.  0 if there is none.
 */
static AttrNumber
find_field(const Plan *plan, const char *name)
{
	ListCell   *lc;

	foreach(lc, plan->targetlist)
	{
		TargetEntry *entry = lfirst(lc);

		if (entry->resjunk && entry->resname != NULL && strcmp(entry->resname, name) == 0)
			return entry->resno;
	}
	return 0;
}

/*
 * Find the fields with the keys of the rows, and what is to be known of their
 * types.  False if there are none: the statement is not ordered.
 */
static bool
find_keys(Watch *watch, PlanState *source)
{
	TupleDesc	desc = ExecGetResultType(source);
	AttrNumber	field;

	while (watch->nkeys < INDEX_MAX_KEYS &&
		   (field = find_field(source->plan, psprintf(OU_SORT_KEY_NAME, watch->nkeys + 1))) > 0)
	{
		Form_pg_attribute att = TupleDescAttr(desc, field - 1);

		watch->last.columns[watch->nkeys].type = att->atttypid;
		watch->last.columns[watch->nkeys].typlen = att->attlen;
		watch->last.columns[watch->nkeys].typbyval = att->attbyval;
		watch->keys[watch->nkeys++] = field;
	}
	watch->last.ncolumns = watch->nkeys;
	return watch->nkeys > 0;
}

/*
 * Watch the rows that source delivers to a node that locks rows of relid, if
 * they come in order.  suffix ends the names of the fields that say where a
 * row is.
 */
static void
watch_source(PlanState *source, Oid relid, const char *suffix)
{
	MemoryContext caller = MemoryContextSwitchTo(source->state->es_query_cxt);
	Watch	   *watch = palloc0(sizeof(Watch));
	MemoryContextCallback *callback = palloc(sizeof(MemoryContextCallback));

	watch->source = source;
	watch->relid = relid;
	watch->last.context = source->state->es_query_cxt;
	watch->ctid = find_field(source->plan, psprintf("ctid%s", suffix));
	watch->tableoid = find_field(source->plan, psprintf("tableoid%s", suffix));
	if (watch->ctid > 0 && find_keys(watch, source) && find_watch(source) == NULL)
	{
		watch->deliver = source->ExecProcNodeReal;
		dlist_push_head(&watches, &watch->node);
		callback->func = forget;
		callback->arg = watch;
		MemoryContextRegisterResetCallback(source->state->es_query_cxt, callback);
		ExecSetExecProcNode(source, deliver_watched);
	}
	MemoryContextSwitchTo(caller);
}

/*
 * Walker: watch the nodes that lock rows.
 */
static bool
watch_nodes(PlanState *node, void *context)
{
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (IsA(node, ModifyTableState))
	{
		ModifyTableState *modify = (ModifyTableState *) node;

		watch_source(outerPlanState(node),
					 RelationGetRelid(modify->rootResultRelInfo->ri_RelationDesc), "");
	}
	else if (IsA(node, LockRowsState))
		foreach(lc, ((LockRows *) node->plan)->rowMarks)
	{
		PlanRowMark *mark = lfirst(lc);

		if (mark->rti == mark->prti && RowMarkRequiresRowShareLock(mark->markType))
			watch_source(outerPlanState(node),
						 exec_rt_fetch(mark->rti, node->state)->relid,
						 psprintf("%u", mark->rowmarkId));
	}
	return planstate_tree_walker(node, watch_nodes, context);
}

/*
 * Whether something can come after a statement in its transaction: it is part
 * of a transaction block, or of a function.
 */
static bool
can_go_on(const QueryDesc *query)
{
	return IsTransactionBlock() || query->dest->mydest == DestSPI ||
		query->dest->mydest == DestSQLFunction;
}

/*
 * Watch the ordered parts of a statement that has been made ready to run.
 */
static void
start_watched(QueryDesc *query, int eflags)
{
	ListCell   *lc;

	if (previous_start_hook != NULL)
		previous_start_hook(query, eflags);
	else
		standard_ExecutorStart(query, eflags);

	if (!ou_order_statements || ou_order_check == ORDER_CHECK_OFF ||
		(eflags & EXEC_FLAG_EXPLAIN_ONLY) || query->planstate == NULL ||
		(query->operation == CMD_SELECT && query->plannedstmt->rowMarks == NIL &&
		 !query->plannedstmt->hasModifyingCTE) ||
		!can_go_on(query))
		return;
	(void) watch_nodes(query->planstate, NULL);
	foreach(lc, query->estate->es_subplanstates)
		(void) watch_nodes(lfirst(lc), NULL);
}

/*
 * Install the hook that starts the watch, behind the one that may be there.
 */
void
ou_statement_watch_install(void)
{
	previous_start_hook = ExecutorStart_hook;
	ExecutorStart_hook = start_watched;
}
