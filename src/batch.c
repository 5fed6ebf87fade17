/*-------------------------------------------------------------------------
 *
 * batch.c
 *		One batch: lock all in order, demand all, change, collect.
 *
 * Every verb runs through the same steps; what differs between them is the
 * shape of the batch.  The rows are locked by one statement in primary key
 * order, and changed by a second one, with a fresh snapshot, only when all of
 * them are locked.  The second statement may find its rows by the ctids that
 * the first one returned: the lock held between the two keeps them where they
 * are.  Within one statement that would lose updates.
 *
 * Where it makes no difference (one_pass.c), one statement does both, by key and
 * in key order, and what is missing is found out after it.
 *
 * Nothing is retried here.  40001 and 40P01 reach the caller with a line of
 * context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "batch.h"
#include "changes.h"
#include "keyset.h"
#include "missing.h"
#include "order_check.h"
#include "order_watch.h"
#include "plan_cache.h"
#include "result.h"

/* What a batch is doing, for the line of context. */
typedef enum Phase
{
	PHASE_PREPARING,
	PHASE_READING,
	PHASE_CHECKING,
	PHASE_LOCKING,
	PHASE_LOOKING,
	PHASE_CHANGING
} Phase;

/* A batch in the middle of its steps. */
typedef struct BatchRun
{
	Batch	   *batch;
	MemoryContext context;		/* SPI's, gone at the end of the batch */
	Phase		phase;
	BatchPlans *plans;
	bool		one_pass;		/* are rows locked by the change itself? */
	Changes		changes;
	Datum		amount;			/* in the type of the counter */
	Keyset	   *wanted;
	Missing		missing;
	int			nlocked;
	ItemPointerData last;		/* ctid of the last locked row, if read */
	ItemPointer ctids;			/* of the locked rows, into ctid_array */
	ArrayType  *ctid_array;
	BatchResult result;
	Bitmapset  *counters;		/* columns that must not come out null */
} BatchRun;

/* A DestReceiver that feeds a batch. */
typedef struct BatchReceiver
{
	DestReceiver pub;
	BatchRun   *run;
} BatchReceiver;

/*
 * Name what a batch is doing.
 */
static const char *
phase_name(const BatchRun *run)
{
	switch (run->phase)
	{
		case PHASE_PREPARING:
			return "preparing";
		case PHASE_READING:
			return run->batch->changes != NULL ? "reading changes" : "reading keys";
		case PHASE_CHECKING:
			return "checking the order";
		case PHASE_LOCKING:
			return "locking";
		case PHASE_LOOKING:
			return "looking for missing rows";
		case PHASE_CHANGING:
			break;
	}
	switch (run->batch->shape.change)
	{
		case CHANGE_DELETE:
			return run->one_pass ? "locking and deleting" : "deleting";
		case CHANGE_UPSERT:
			return "inserting or updating";
		default:
			return run->one_pass ? "locking and updating" : "updating";
	}
}

/*
 * Whether the error being reported has a hint.
 */
static bool
has_hint(MemoryContext context)
{
	MemoryContext caller = MemoryContextSwitchTo(context);
	ErrorData  *edata = CopyErrorData();

	MemoryContextSwitchTo(caller);
	return edata->hint != NULL;
}

/*
 * Number of keys or changes that a batch was passed, with duplicates.
 */
int
ou_batch_size(const Batch *batch)
{
	if (batch->changes != NULL)
		return JB_ROOT_COUNT(batch->changes);
	return ArrayGetNItems(ARR_NDIM(batch->keys), ARR_DIMS(batch->keys));
}

/*
 * Whether a batch is going along its wanted keys, locking row by row.
 */
static bool
locks_wanted(const BatchRun *run)
{
	return run->phase == PHASE_LOCKING || (run->phase == PHASE_CHANGING && run->one_pass);
}

/*
 * Whether a batch can be waiting for a row: an upsert locks rows as it comes to
 * them, too.
 */
static bool
locks_rows(const BatchRun *run)
{
	return locks_wanted(run) ||
		(run->phase == PHASE_CHANGING && run->batch->shape.change == CHANGE_UPSERT);
}

/*
 * Tell, of a batch that waited for a row until it was chosen to end a deadlock,
 * how far it had come, and what the transaction held before.
 */
static void
add_deadlock_context(BatchRun *run)
{
	const Target *target = run->plans->target;
	MemoryContext caller = MemoryContextSwitchTo(run->context);
	StringInfoData key;
	StringInfoData before;

	Assert(run->wanted != NULL);
	initStringInfo(&key);
	initStringInfo(&before);
	if (locks_wanted(run) && run->missing.next < run->wanted->nkeys)
	{
		appendStringInfo(&key, "%s=", target->key_names);
		ou_keytype_print(&key, target->key, ou_keyset_key(run->wanted, run->missing.next));
	}
	ou_order_describe(&before);
	MemoryContextSwitchTo(caller);

	if (key.len > 0)
		errcontext(ngettext("%d row of the batch was locked, the next one wanted was %s",
							"%d rows of the batch were locked, the next one wanted was %s",
							run->nlocked), run->nlocked, key.data);
	if (before.len > 0)
		errcontext("this transaction had locked rows before, up to %s", before.data);
}

/*
 * Add a line of context to an error, and to a serialization failure the
 * advice that core does not give everywhere.
 */
static void
add_context(void *arg)
{
	BatchRun   *run = arg;
	int			size = run->wanted != NULL ? run->wanted->nkeys : ou_batch_size(run->batch);

	if (geterrcode() == ERRCODE_T_R_SERIALIZATION_FAILURE && !has_hint(run->context))
		errhint("Roll back and retry the whole transaction.");
	if (geterrcode() == ERRCODE_T_R_DEADLOCK_DETECTED && locks_rows(run))
		add_deadlock_context(run);
	if (run->plans != NULL)
		errcontext("%s on table \"%s\", batch size %d: %s", run->batch->verb,
				   run->plans->target->qualified, size, phase_name(run));
	else
		errcontext("%s, batch size %d: %s", run->batch->verb, size, phase_name(run));
}

/*
 * What a receiver does before and after its rows: nothing.
 */
static void
start_receiving(DestReceiver *self, int operation, TupleDesc typeinfo)
{
}

static void
end_receiving(DestReceiver *self)
{
}

/*
 * Make a receiver that hands each row to receive.
 */
static DestReceiver *
make_receiver(BatchRun *run, bool (*receive) (TupleTableSlot *slot, DestReceiver *self))
{
	BatchReceiver *receiver = palloc0(sizeof(BatchReceiver));

	receiver->pub.receiveSlot = receive;
	receiver->pub.rStartup = start_receiving;
	receiver->pub.rShutdown = end_receiving;
	receiver->pub.rDestroy = end_receiving;
	receiver->pub.mydest = DestNone;
	receiver->run = run;
	return &receiver->pub;
}

/*
 * Whether each row is given a change of its own.
 */
static bool
gives_changes(const BatchRun *run)
{
	return run->batch->changes != NULL && run->batch->shape.change != CHANGE_NONE;
}

/*
 * Get ready for the rows of a JSON batch.
 */
static void
start_changes(DestReceiver *self, int operation, TupleDesc typeinfo)
{
	ou_changes_open(&((BatchReceiver *) self)->run->changes, typeinfo);
}

/*
 * Receive a row of a JSON batch.
 */
static bool
receive_change(TupleTableSlot *slot, DestReceiver *self)
{
	ou_changes_add(&((BatchReceiver *) self)->run->changes, slot);
	return true;
}

/*
 * Check that no amount is null: 22004.  A null key is found later.
 */
static void
check_amounts(const BatchRun *run)
{
	const Target *target = run->plans->target;
	int			attnum = bms_next_member(bms_difference(run->batch->nulls,
														target->key_columns), -1);

	if (run->batch->shape.change == CHANGE_ADD && attnum > 0)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("amount for column \"%s\" must not be null",
						target->columns[attnum - 1].name)));
}

/*
 * Convert the amount to the type of the counter: 22003 when it does not fit,
 * 22023 when it is a fraction and the counter is not.
 */
static Datum
cast_amount(const BatchRun *run)
{
	const Target *target = run->plans->target;
	AttrNumber	counter = bms_singleton_member(run->batch->shape.columns);
	Datum		amount = NumericGetDatum(run->batch->amount);

	ou_target_check_amount(target, counter, run->batch->amount);
	switch (target->columns[counter - 1].type)
	{
		case INT2OID:
			return DirectFunctionCall1(numeric_int2, amount);
		case INT4OID:
			return DirectFunctionCall1(numeric_int4, amount);
		case INT8OID:
			return DirectFunctionCall1(numeric_int8, amount);
		case FLOAT4OID:
			return DirectFunctionCall1(numeric_float4, amount);
		case FLOAT8OID:
			return DirectFunctionCall1(numeric_float8, amount);
		default:
			return amount;
	}
}

/*
 * Read the wanted keys, and the changes that come with them.
 */
static void
read_batch(BatchRun *run)
{
	Batch	   *batch = run->batch;
	const Target *target = run->plans->target;
	Datum		value = JsonbPGetDatum(batch->changes);
	DestReceiver *receiver;

	run->phase = PHASE_READING;
	if (batch->changes == NULL)
	{
		run->wanted = ou_keyset_from_array(target, batch->keys);
		return;
	}
	check_amounts(run);
	ou_changes_begin(&run->changes, target, &batch->shape);
	receiver = make_receiver(run, receive_change);
	receiver->rStartup = start_changes;
	ou_plans_execute(run->plans, STATEMENT_READ, &value, receiver);
	run->wanted = run->changes.keys;
}

/*
 * Receive a locked row: the ctid where the change needs it, the key, and the
 * row itself where it is the result.
 */
static bool
receive_locked(TupleTableSlot *slot, DestReceiver *self)
{
	BatchRun   *run = ((BatchReceiver *) self)->run;
	const BatchShape *shape = &run->batch->shape;
	int			keyfield = shape->locate == LOCATE_BY_CTID ? 1 : 0;
	ItemPointer ctid = NULL;
	const Datum *key;

	slot_getallattrs(slot);
	key = slot->tts_values + keyfield;
	if (!ou_missing_match(&run->missing, key))
		ou_missing_report_replaced(run->plans->target, key);

	if (shape->locate == LOCATE_BY_CTID)
	{
		ctid = (ItemPointer) DatumGetPointer(slot->tts_values[0]);
		run->last = *ctid;
	}
	if (gives_changes(run))
	{
		while (run->changes.nread < run->missing.next && ou_changes_next(&run->changes))
			;
		ou_changes_pick(&run->changes, ctid);
	}
	else if (shape->change != CHANGE_NONE)
	{
		if (shape->locate == LOCATE_BY_CTID)
			run->ctids[run->nlocked] = *ctid;
	}
	else if (shape->result == RESULT_ROW)
	{
		ou_result_load(&run->result, slot, keyfield + run->wanted->keytype->ncolumns);
		ou_result_append(&run->result);
	}
	run->nlocked++;
	return true;
}

/*
 * Record how far this transaction has come: up to the highest key that is not
 * missing.  Not if that row is one that the transaction inserted itself, which
 * nobody can wait for.
 */
static void
record_order(BatchRun *run)
{
	const Target *target = run->plans->target;
	const Missing *missing = &run->missing;
	LockStrength strength = ou_sql_strength(target, &run->batch->shape);
	int			last = run->wanted->nkeys - 1;

	if (run->batch->held != NoLock && ItemPointerIsValid(&run->last) &&
		ou_row_lock_held(target->relid, &run->last) == STRENGTH_OWN)
		return;
	for (int i = missing->npositions - 1; i >= 0 && missing->positions[i] == last; i--)
		last--;
	if (last < 0)
		return;
	ou_order_record(target, ou_keyset_key(run->wanted, last), strength);
	if (missing->npositions == 0)
		ou_order_remember(target, run->wanted, strength);
}

/*
 * Make an array of nctids ctids to be filled in place: a tid is as long as it
 * is apart from the next one, so that the elements lie as in a C array.
 */
static void
make_ctid_array(BatchRun *run, int nctids)
{
	Size		size = ARR_OVERHEAD_NONULLS(1) + (Size) nctids * sizeof(ItemPointerData);

	run->ctid_array = MemoryContextAllocHuge(run->context, size);
	run->ctid_array->ndim = 1;
	run->ctid_array->dataoffset = 0;
	run->ctid_array->elemtype = TIDOID;
	ARR_LBOUND(run->ctid_array)[0] = 1;
	run->ctids = (ItemPointer) ARR_DATA_PTR(run->ctid_array);
}

/*
 * Set the length of the array of ctids to what was filled.
 */
static void
close_ctid_array(BatchRun *run)
{
	ARR_DIMS(run->ctid_array)[0] = run->nlocked;
	SET_VARSIZE(run->ctid_array, ARR_OVERHEAD_NONULLS(1) +
				(Size) run->nlocked * sizeof(ItemPointerData));
}

/*
 * Lock the wanted rows in key order, and note which were not there.
 */
static void
lock_rows(BatchRun *run)
{
	const BatchShape *shape = &run->batch->shape;
	Datum	   *values = palloc(run->wanted->keytype->ncolumns * sizeof(Datum));

	run->phase = PHASE_LOCKING;
	ou_missing_begin(&run->missing, run->wanted);
	if (gives_changes(run))
		ou_changes_begin_picking(&run->changes, shape->locate, shape->columns);
	else if (shape->locate == LOCATE_BY_CTID && shape->change != CHANGE_NONE)
		make_ctid_array(run, run->wanted->nkeys);
	ou_keyset_to_params(run->wanted, values);
	ou_plans_execute(run->plans, STATEMENT_LOCK, values, make_receiver(run, receive_locked));
	ou_missing_end(&run->missing);
}

/*
 * Leave the report of missing rows to the caller.
 */
static void
collect_absent(BatchRun *run, const Keyset *absent)
{
	StringInfo	detail = &run->batch->absent->detail;
	const Target *target = run->plans->target;

	Assert(run->batch->absent != NULL);
	run->batch->absent->nrows += absent->nkeys;
	appendStringInfo(detail, _("%sTable \"%s\": "), detail->len > 0 ? " " : "",
					 target->qualified);
	ou_missing_describe_absent(detail, target, absent);
}

/*
 * Look for absent rows with a snapshot taken now, whatever the isolation level.
 * Returns the key of one that is there, or NULL.
 */
static Datum *
look_for(BatchRun *run, Statement statement, const Keyset *absent)
{
	Datum	   *values = palloc(absent->keytype->ncolumns * sizeof(Datum));
	SPIPlanPtr	look = ou_plans_get(run->plans, statement);
	int			result;

	ou_keyset_to_params(absent, values);
	result = SPI_execute_snapshot(look, values, NULL, GetLatestSnapshot(), InvalidSnapshot,
								  false, false, 1);
	if (result != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_snapshot returned %s", SPI_result_code_string(result));
	if (SPI_processed == 0)
		return NULL;
	for (int i = 0; i < absent->keytype->ncolumns; i++)
	{
		bool		isnull;

		values[i] = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc,
								  i + 1, &isnull);
	}
	return values;
}

/*
 * See what the missing rows are: 40001 if one of them is there, because it was
 * replaced while we waited or came after our transaction's snapshot; P0002 if
 * not, unless missing rows are to be skipped.
 *
 * A row that is there may be one that row security shows to a SELECT and hides
 * from what locks: to a batch it does not exist.
 */
static void
demand_all(BatchRun *run)
{
	const Target *target = run->plans->target;
	Keyset	   *absent;
	Datum	   *found;

	if (run->missing.npositions == 0)
		return;
	run->phase = PHASE_LOOKING;
	absent = ou_keyset_pick(run->wanted, run->missing.positions, run->missing.npositions);
	found = look_for(run, STATEMENT_LOOK, absent);
	if (found != NULL && check_enable_rls(target->relid, InvalidOid, true) == RLS_ENABLED)
		found = look_for(run, STATEMENT_LOOK_LOCKING, absent);
	if (found != NULL)
		ou_missing_report_replaced(target, found);
	if (run->batch->missing == MISSING_SKIP)
		return;
	if (run->batch->absent == NULL)
		ou_missing_report_absent(target, absent);
	collect_absent(run, absent);
}

/*
 * Check that each of nexpected rows was changed exactly once: 27000.
 */
static void
check_changed(const BatchRun *run, int nexpected)
{
	const Target *target = run->plans->target;

	if (SPI_processed != (uint64) nexpected)
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 errmsg("not every row of the batch was changed in table \"%s\"", target->name),
				 errdetail("Rows in the batch: %d. Rows changed: " UINT64_FORMAT ".",
						   nexpected, (uint64) SPI_processed),
				 errhint("Look for a BEFORE trigger that returns NULL or changes other rows of the batch, and for a row security policy."),
				 err_generic_string(PG_DIAG_SCHEMA_NAME, target->schema),
				 err_generic_string(PG_DIAG_TABLE_NAME, target->name)));
}

/*
 * Check that no counter came out null that the change of the row at hand
 * named: 22004.  The set of counters is the same for all rows, and not to be
 * copied for each, unless changes name different columns.
 */
static void
check_counters(BatchRun *run, TupleTableSlot *slot)
{
	const Bitmapset *optional = run->batch->shape.optional;
	int			field = run->result.nfields;
	int			attnum = -1;
	Bitmapset  *counters;

	if (run->batch->shape.change != CHANGE_ADD || bms_is_empty(optional))
	{
		ou_result_check_counters(&run->result, run->counters);
		return;
	}
	counters = bms_copy(run->counters);
	for (; (attnum = bms_next_member(optional, attnum)) >= 0; field++)
		if (!DatumGetBool(slot->tts_values[field]))
			counters = bms_del_member(counters, attnum);
	ou_result_check_counters(&run->result, counters);
	bms_free(counters);
}

/*
 * Receive a changed row.
 */
static bool
receive_changed(TupleTableSlot *slot, DestReceiver *self)
{
	BatchRun   *run = ((BatchReceiver *) self)->run;

	ou_result_load(&run->result, slot, 0);
	if (run->counters != NULL)
		check_counters(run, slot);
	ou_result_sort(&run->result);
	return true;
}

/*
 * Receive a row that was locked and changed at once.
 */
static bool
receive_locked_and_changed(TupleTableSlot *slot, DestReceiver *self)
{
	BatchRun   *run = ((BatchReceiver *) self)->run;
	Datum		key[INDEX_MAX_KEYS];

	ou_result_load(&run->result, slot, 0);
	ou_result_read_key(&run->result, key);
	if (!ou_missing_match(&run->missing, key))
		ou_missing_report_replaced(run->plans->target, key);
	if (run->counters != NULL)
		check_counters(run, slot);
	ou_result_append(&run->result);
	run->nlocked++;
	return true;
}

/*
 * Run a statement of plans that takes changes from a relation.  How many rows it
 * changed is in SPI_processed.
 */
static void
execute_with_changes(BatchPlans *plans, Statement statement,
					 EphemeralNamedRelation changes, DestReceiver *receiver)
{
	if (SPI_register_relation(changes) != SPI_OK_REL_REGISTER)
		elog(ERROR, "SPI_register_relation failed");
	ou_plans_execute(plans, statement, NULL, receiver);
	if (SPI_unregister_relation(OU_CHANGES_NAME) != SPI_OK_REL_UNREGISTER)
		elog(ERROR, "SPI_unregister_relation failed");
}

/*
 * Run the change statement of plans on the picked changes.
 */
static void
execute_changes(BatchRun *run, BatchPlans *plans)
{
	execute_with_changes(plans, STATEMENT_CHANGE, ou_changes_picked(&run->changes),
						 make_receiver(run, receive_changed));
	check_changed(run, run->changes.npicked);
	ou_changes_end_picking(&run->changes);
}

/*
 * Run a statement on the rows with the given keys, or at the locked ctids if
 * there are no keys.
 */
static void
execute_on_rows(BatchRun *run, Statement statement, const Keyset *keys,
				DestReceiver *receiver)
{
	Datum	   *values = palloc((run->wanted->keytype->ncolumns + 1) * sizeof(Datum));
	int			nvalues = 1;

	if (keys != NULL)
		nvalues = ou_keyset_to_params(keys, values);
	else
		values[0] = PointerGetDatum(run->ctid_array);
	if (run->batch->shape.change == CHANGE_INCREMENT)
		values[nvalues] = run->amount;
	ou_plans_execute(run->plans, statement, values, receiver);
}

/*
 * Run the change statement on the locked rows, found by their ctids or keys.
 */
static void
execute_on_locked(BatchRun *run)
{
	Keyset	   *locked = NULL;

	if (run->batch->shape.locate == LOCATE_BY_CTID)
		close_ctid_array(run);
	else
		locked = ou_keyset_omit(run->wanted, run->missing.positions, run->missing.npositions);
	execute_on_rows(run, STATEMENT_CHANGE, locked, make_receiver(run, receive_changed));
	check_changed(run, run->nlocked);
}

/*
 * Insert or update the picked rows, by plans that are let go of at once: there
 * may be more shapes of rows than are to be kept in memory.
 */
static void
upsert_picked(BatchRun *run, const BatchShape *shape)
{
	MemoryContext context = AllocSetContextCreate(run->context, "ordered_update plans in use",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	BatchPlans *plans = ou_plans_find(shape);

	MemoryContextSwitchTo(caller);
	execute_changes(run, plans);
	MemoryContextDelete(context);
}

/*
 * Insert or update the rows of the batch in key order.  Rows that name the
 * same columns and follow each other share a statement: a column that a row
 * does not name takes its default where the row is inserted, which no one
 * statement can say of some rows only.
 */
static void
upsert_rows(BatchRun *run)
{
	Changes    *changes = &run->changes;
	BatchShape	shape = run->batch->shape;

	shape.columns = NULL;
	shape.optional = NULL;
	while (ou_changes_next(changes))
	{
		Bitmapset  *named = ou_changes_named(changes);

		if (!bms_equal(named, shape.columns))
		{
			if (changes->npicked > 0)
				upsert_picked(run, &shape);
			shape.columns = named;
			ou_changes_begin_picking(changes, shape.locate, named);
		}
		ou_changes_pick(changes, NULL);
	}
	upsert_picked(run, &shape);
}

/*
 * Begin to change rows.
 */
static void
begin_changing(BatchRun *run)
{
	ChangeKind	change = run->batch->shape.change;

	run->phase = PHASE_CHANGING;
	if (change == CHANGE_INCREMENT || change == CHANGE_ADD)
		run->counters = ou_sql_changed_columns(run->plans->target, &run->batch->shape);
}

/*
 * Lock the wanted rows in key order, change each as it is locked, and note
 * which were not there.
 */
static void
lock_and_change_rows(BatchRun *run)
{
	DestReceiver *receiver = make_receiver(run, receive_locked_and_changed);

	begin_changing(run);
	ou_missing_begin(&run->missing, run->wanted);
	if (gives_changes(run))
		execute_with_changes(run->plans, STATEMENT_LOCK_AND_CHANGE,
							 ou_changes_all(&run->changes), receiver);
	else
		execute_on_rows(run, STATEMENT_LOCK_AND_CHANGE, run->wanted, receiver);
	ou_missing_end(&run->missing);
	Assert(SPI_processed == (uint64) run->nlocked);
	Assert(run->nlocked + run->missing.npositions == run->wanted->nkeys);
}

/*
 * Change the rows and collect them in key order.
 */
static void
change_rows(BatchRun *run)
{
	begin_changing(run);
	ou_result_begin_sort(&run->result, run->wanted);
	if (run->batch->shape.change == CHANGE_UPSERT)
		upsert_rows(run);
	else if (gives_changes(run))
		execute_changes(run, run->plans);
	else
		execute_on_locked(run);
	ou_result_end_sort(&run->result);
}

/*
 * Lock the wanted rows, demand all, and change them: as they are locked, in one
 * pass, or when all of them are, in two.
 */
static void
run_passes(BatchRun *run)
{
	if (run->one_pass)
		lock_and_change_rows(run);
	else
		lock_rows(run);
	demand_all(run);
	record_order(run);
	if (run->one_pass || run->batch->shape.change == CHANGE_NONE || run->nlocked == 0)
		return;
	change_rows(run);
}

/*
 * Whether a batch locks its rows by the change itself.
 *
 * A transaction that holds the table to write takes two passes: a row can be one
 * that it inserted itself, which the row does not show any more once it is
 * changed.  So does a role that may delete rows and not lock them, and is
 * refused by the lock statement.
 */
static bool
goes_in_one_pass(const Batch *batch, const BatchPlans *plans)
{
	return plans->allows_one_pass && batch->held != RowExclusiveLock &&
		(batch->shape.change != CHANGE_DELETE || ou_target_is_lockable(batch->shape.relid));
}

/*
 * Take the steps of a batch, in order.
 */
static void
run_steps(BatchRun *run)
{
	Batch	   *batch = run->batch;

	run->plans = ou_plans_find(&batch->shape);
	run->one_pass = goes_in_one_pass(batch, run->plans);
	if (batch->shape.result != RESULT_NONE)
		ou_result_begin(&run->result, run->plans->target, batch->shape.result,
						batch->result, batch->resultdesc);
	if (batch->shape.change == CHANGE_INCREMENT)
		run->amount = cast_amount(run);
	read_batch(run);
	run->phase = PHASE_CHECKING;
	ou_watch_check(batch->held != NoLock, run->plans, run->wanted);
	if (batch->shape.change == CHANGE_UPSERT)
	{
		change_rows(run);
		record_order(run);
	}
	else
		run_passes(run);
}

/*
 * Lock the rows of a batch in key order, change them, and put them into the
 * result in key order.  Returns the number of locked rows, 0 for an upsert,
 * which locks them as it goes.
 *
 * Raises what the steps raise: see ou_plans_find, ou_keyset_from_array,
 * ou_changes_add, demand_all, ou_result_check_counters, cast_amount,
 * check_changed, and all that the server says of the statements.  Nothing is
 * kept after an error.
 *
 * The table is open for as long as the batch runs.  Reading keys can run the
 * caller's functions, those of casts and of domains: none of them may alter a
 * table that is described already.
 */
int
ou_batch_run(Batch *batch)
{
	BatchRun	run = {.batch = batch};
	ErrorContextCallback callback = {
		.previous = error_context_stack,
		.callback = add_context,
		.arg = &run,
	};
	Relation	table;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	run.context = CurrentMemoryContext;
	error_context_stack = &callback;
	table = relation_open(batch->shape.relid, NoLock);
	run_steps(&run);
	relation_close(table, NoLock);
	ou_changes_end(&run.changes);
	error_context_stack = callback.previous;
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	return run.nlocked;
}
