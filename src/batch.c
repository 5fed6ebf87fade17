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
 * Nothing is retried here.  40001 and 40P01 reach the caller with a line of
 * context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/itemptr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"

#include "batch.h"
#include "compat.h"
#include "keyset.h"
#include "missing.h"
#include "plan_cache.h"

/* What a batch is doing, for the line of context. */
typedef enum Phase
{
	PHASE_PREPARING,
	PHASE_LOCKING,
	PHASE_LOOKING,
	PHASE_CHANGING
} Phase;

/* A batch in the middle of its steps. */
typedef struct BatchRun
{
	Batch	   *batch;
	MemoryContext context;		/* SPI's, gone at the end of the batch */
	BatchPlans *plans;
	Keyset	   *wanted;
	Missing		missing;
	Phase		phase;
	int			nlocked;
	ItemPointer ctids;			/* of the locked rows, into ctid_array */
	ArrayType  *ctid_array;
	int		   *fields;			/* for each column returned, its field in the
								 * result */
	Tuplesortstate *sort;
	TupleTableSlot *slot;		/* of the result's row type, virtual */
} BatchRun;

/* A DestReceiver that feeds a batch. */
typedef struct BatchReceiver
{
	DestReceiver pub;
	BatchRun   *run;
} BatchReceiver;

/*
 * Add a line of context to an error, and to a serialization failure the
 * advice that core does not give everywhere.
 */
static void
add_context(void *arg)
{
	BatchRun   *run = arg;
	const Batch *batch = run->batch;
	const char *const phases[] = {
		[PHASE_PREPARING] = "preparing",
		[PHASE_LOCKING] = "locking",
		[PHASE_LOOKING] = "looking for missing rows",
		[PHASE_CHANGING] = batch->shape.change == CHANGE_DELETE ? "deleting" : "updating",
	};

	if (geterrcode() == ERRCODE_T_R_SERIALIZATION_FAILURE)
	{
		MemoryContext caller = MemoryContextSwitchTo(run->context);
		ErrorData  *edata = CopyErrorData();

		MemoryContextSwitchTo(caller);
		if (edata->hint == NULL)
			errhint("Roll back and retry the whole transaction.");
	}
	if (run->wanted != NULL)
		errcontext("%s on table \"%s.%s\", batch size %d: %s", batch->verb,
				   run->plans->target->schema, run->plans->target->name,
				   run->wanted->nkeys, phases[run->phase]);
	else
		errcontext("%s: %s", batch->verb, phases[run->phase]);
}

/*
 * Receivers that need no more than the slot.
 */
static void
ignore_startup(DestReceiver *self, int operation, TupleDesc typeinfo)
{
}

static void
ignore_end(DestReceiver *self)
{
}

/*
 * Make a receiver that hands rows to receive.
 */
static DestReceiver *
make_receiver(BatchRun *run, bool (*receive) (TupleTableSlot *slot, DestReceiver *self))
{
	BatchReceiver *receiver = palloc0(sizeof(BatchReceiver));

	receiver->pub.receiveSlot = receive;
	receiver->pub.rStartup = ignore_startup;
	receiver->pub.rShutdown = ignore_end;
	receiver->pub.rDestroy = ignore_end;
	receiver->pub.mydest = DestNone;
	receiver->run = run;
	return &receiver->pub;
}

/*
 * Store the columns of slot from first on in the result's slot.
 */
static void
fill_result_slot(BatchRun *run, TupleTableSlot *slot, int first)
{
	int			ncolumns = slot->tts_tupleDescriptor->natts - first;

	slot_getallattrs(slot);
	ExecClearTuple(run->slot);
	memset(run->slot->tts_isnull, true, run->slot->tts_tupleDescriptor->natts);
	for (int i = 0; i < ncolumns; i++)
	{
		run->slot->tts_values[run->fields[i]] = slot->tts_values[first + i];
		run->slot->tts_isnull[run->fields[i]] = slot->tts_isnull[first + i];
	}
	ExecStoreVirtualTuple(run->slot);
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
	const Datum *key;

	slot_getallattrs(slot);
	key = slot->tts_values + keyfield;
	if (!ou_missing_match(&run->missing, key))
		ou_missing_report_replaced(run->plans->target, key);

	if (shape->locate == LOCATE_BY_CTID)
		run->ctids[run->nlocked] = *(ItemPointer) DatumGetPointer(slot->tts_values[0]);
	run->nlocked++;
	if (shape->change == CHANGE_NONE)
	{
		fill_result_slot(run, slot, keyfield + run->wanted->keytype->ncolumns);
		tuplestore_puttupleslot(run->batch->result, run->slot);
	}
	return true;
}

/*
 * Field of the result, from 0, that holds key column i.
 */
static int
key_field(const BatchRun *run, int i)
{
	if (run->batch->shape.result == RESULT_ID_REVISION)
		return 0;
	return run->wanted->keytype->columns[i].attnum - 1;
}

/*
 * Raise 22004 for the counter of the row in the result's slot.
 */
static void
report_null_counter(const BatchRun *run, AttrNumber counter)
{
	const Target *target = run->plans->target;
	StringInfoData names;
	StringInfoData values;

	initStringInfo(&names);
	initStringInfo(&values);
	ou_keytype_print_names(&names, target->key);
	for (int i = 0; i < target->key->ncolumns; i++)
	{
		int			field = key_field(run, i);
		Oid			output;
		bool		isvarlena;

		getTypeOutputInfo(TupleDescAttr(run->batch->resultdesc, field)->atttypid,
						  &output, &isvarlena);
		appendStringInfo(&values, "%s%s", i > 0 ? ", " : "",
						 OidOutputFunctionCall(output, run->slot->tts_values[field]));
	}
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("counter \"%s\" of table \"%s\" is null",
					target->columns[counter - 1].name, target->name),
			 errdetail("The row has key %s=(%s).", names.data, values.data),
			 errhint("Set the counter to a value, and declare the column NOT NULL."),
			 err_generic_string(PG_DIAG_SCHEMA_NAME, target->schema),
			 err_generic_string(PG_DIAG_TABLE_NAME, target->name),
			 err_generic_string(PG_DIAG_COLUMN_NAME, target->columns[counter - 1].name)));
}

/*
 * Check that the counter in the result's slot is a number: NULL + 1 must not
 * be reported as success.
 */
static void
check_counter(const BatchRun *run)
{
	AttrNumber	counter = bms_singleton_member(run->batch->shape.columns);
	int			field = run->batch->shape.result == RESULT_ID_REVISION ? 1 : counter - 1;

	if (run->slot->tts_isnull[field])
		report_null_counter(run, counter);
}

/*
 * Receive a changed row.
 */
static bool
receive_changed(TupleTableSlot *slot, DestReceiver *self)
{
	BatchRun   *run = ((BatchReceiver *) self)->run;

	fill_result_slot(run, slot, 0);
	if (run->batch->shape.change == CHANGE_INCREMENT)
		check_counter(run);
	tuplesort_puttupleslot(run->sort, run->slot);
	return true;
}

/*
 * Run a statement of the batch with its parameters: the wanted keys or ctids
 * first.
 */
static void
execute(BatchRun *run, Statement statement, const Datum *values, DestReceiver *receiver)
{
	SPIPlanPtr	plan = ou_plans_get(run->plans, statement);
	int			nparams = SPI_getargcount(plan);
	ParamListInfo params = makeParamList(nparams);
	SPIExecuteOptions options = {.params = params, .dest = receiver};
	int			result;

	for (int i = 0; i < nparams; i++)
	{
		params->params[i].value = values[i];
		params->params[i].isnull = false;
		params->params[i].pflags = PARAM_FLAG_CONST;
		params->params[i].ptype = SPI_getargtypeid(plan, i);
	}
	result = SPI_execute_plan_extended(plan, &options);
	if (result < 0)
		elog(ERROR, "SPI_execute_plan_extended returned %s", SPI_result_code_string(result));
}

/*
 * Store the arrays of a set of keys as parameters, and return how many.
 */
static int
store_key_params(Datum *values, const Keyset *keys)
{
	for (int i = 0; i < keys->keytype->ncolumns; i++)
		values[i] = ou_keyset_to_array(keys, i);
	return keys->keytype->ncolumns;
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
	Datum	   *values = palloc(run->wanted->keytype->ncolumns * sizeof(Datum));

	run->phase = PHASE_LOCKING;
	ou_missing_begin(&run->missing, run->wanted);
	if (run->batch->shape.locate == LOCATE_BY_CTID)
		make_ctid_array(run, run->wanted->nkeys);
	store_key_params(values, run->wanted);
	execute(run, STATEMENT_LOCK, values, make_receiver(run, receive_locked));
	ou_missing_end(&run->missing);
}

/*
 * Look for the missing rows with a snapshot taken now, whatever the isolation
 * level: 40001 if one of them is there, because it was replaced while we
 * waited or came after our transaction's snapshot; P0002 if not, unless
 * missing rows are to be skipped.
 */
static void
demand_all(BatchRun *run)
{
	const Target *target = run->plans->target;
	Keyset	   *absent;
	Datum	   *values;
	int			result;

	if (run->missing.npositions == 0)
		return;
	run->phase = PHASE_LOOKING;
	absent = ou_keyset_pick(run->wanted, run->missing.positions, run->missing.npositions);
	values = palloc(target->key->ncolumns * sizeof(Datum));
	store_key_params(values, absent);
	result = SPI_execute_snapshot(ou_plans_get(run->plans, STATEMENT_LOOK), values, NULL,
								  GetLatestSnapshot(), InvalidSnapshot, true, false, 1);
	if (result != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_snapshot returned %s", SPI_result_code_string(result));

	if (SPI_processed > 0)
	{
		for (int i = 0; i < target->key->ncolumns; i++)
		{
			bool		isnull;

			values[i] = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc,
									  i + 1, &isnull);
		}
		ou_missing_report_replaced(target, values);
	}
	if (run->batch->missing == MISSING_RAISE)
		ou_missing_report_absent(target, absent, run->wanted->nkeys);
}

/*
 * Convert the amount to the type of the counter: 22003 when it does not fit,
 * 22023 when it is a fraction and the counter is not.
 */
static Datum
cast_amount(const BatchRun *run)
{
	Datum		amount = NumericGetDatum(run->batch->amount);
	AttrNumber	counter = bms_singleton_member(run->batch->shape.columns);
	Oid			type = run->plans->target->columns[counter - 1].type;

	switch (type)
	{
		case NUMERICOID:
			return amount;
		case FLOAT4OID:
			return DirectFunctionCall1(numeric_float4, amount);
		case FLOAT8OID:
			return DirectFunctionCall1(numeric_float8, amount);
	}

	if (!numeric_is_nan(run->batch->amount) &&
		!DatumGetBool(DirectFunctionCall2(numeric_eq, amount,
										  DirectFunctionCall2(numeric_trunc, amount,
															  Int32GetDatum(0)))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("amount is not a whole number"),
				 errdetail("The counter \"%s\" is of type %s.",
						   run->plans->target->columns[counter - 1].name,
						   format_type_be(type))));
	switch (type)
	{
		case INT2OID:
			return DirectFunctionCall1(numeric_int2, amount);
		case INT4OID:
			return DirectFunctionCall1(numeric_int4, amount);
		default:
			return DirectFunctionCall1(numeric_int8, amount);
	}
}

/*
 * Begin to sort result rows by key.
 */
static void
begin_sort(BatchRun *run)
{
	KeyType    *key = run->wanted->keytype;
	AttrNumber *columns = palloc(key->ncolumns * sizeof(AttrNumber));
	Oid		   *operators = palloc(key->ncolumns * sizeof(Oid));
	Oid		   *collations = palloc(key->ncolumns * sizeof(Oid));
	bool	   *nulls_first = palloc0(key->ncolumns * sizeof(bool));

	for (int i = 0; i < key->ncolumns; i++)
	{
		columns[i] = key_field(run, i) + 1;
		operators[i] = run->batch->shape.result == RESULT_ID_REVISION ?
			Int4LessOperator : key->columns[i].less;
		collations[i] = key->columns[i].collation;
	}
	run->sort = tuplesort_begin_heap(run->batch->resultdesc, key->ncolumns, columns,
									 operators, collations, nulls_first,
									 work_mem, NULL, TUPLESORT_NONE);
}

/*
 * Move the sorted rows to the result.
 */
static void
end_sort(BatchRun *run)
{
	TupleTableSlot *sorted = MakeSingleTupleTableSlot(run->batch->resultdesc,
													  &TTSOpsMinimalTuple);

	tuplesort_performsort(run->sort);
	while (tuplesort_gettupleslot(run->sort, true, false, sorted, NULL))
	{
		CHECK_FOR_INTERRUPTS();
		tuplestore_puttupleslot(run->batch->result, sorted);
	}
	tuplesort_end(run->sort);
}

/*
 * Check that every locked row was changed exactly once: 27000.
 */
static void
check_changed(const BatchRun *run, uint64 nchanged)
{
	const Target *target = run->plans->target;

	if (nchanged != (uint64) run->nlocked)
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 errmsg("%d rows of table \"%s\" were locked but " UINT64_FORMAT " were changed",
						run->nlocked, target->name, nchanged),
				 errhint("Look for a BEFORE trigger that returns NULL or changes other rows of the batch, and for a row security policy."),
				 err_generic_string(PG_DIAG_SCHEMA_NAME, target->schema),
				 err_generic_string(PG_DIAG_TABLE_NAME, target->name)));
}

/*
 * Change the locked rows and collect them in key order.
 */
static void
change_rows(BatchRun *run)
{
	const BatchShape *shape = &run->batch->shape;
	Datum	   *values = palloc((run->wanted->keytype->ncolumns + 1) * sizeof(Datum));
	int			nvalues;

	if (run->nlocked == 0)
		return;
	run->phase = PHASE_CHANGING;
	if (shape->locate == LOCATE_BY_CTID)
	{
		close_ctid_array(run);
		values[0] = PointerGetDatum(run->ctid_array);
		nvalues = 1;
	}
	else
		nvalues = store_key_params(values, ou_keyset_omit(run->wanted,
														  run->missing.positions,
														  run->missing.npositions));
	if (shape->change == CHANGE_INCREMENT)
		values[nvalues] = cast_amount(run);

	begin_sort(run);
	execute(run, STATEMENT_CHANGE, values, make_receiver(run, receive_changed));
	check_changed(run, SPI_processed);
	end_sort(run);
}

/*
 * Work out the field of the result that each returned column goes to, around
 * dropped columns, and make the result's slot.
 */
static void
describe_result(BatchRun *run)
{
	TupleDesc	desc = run->batch->resultdesc;
	int			ncolumns = 0;

	run->fields = palloc(desc->natts * sizeof(int));
	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			run->fields[ncolumns++] = i;
	run->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
}

/*
 * Take the steps of a batch, in order.
 */
static void
run_steps(BatchRun *run)
{
	Batch	   *batch = run->batch;

	run->plans = ou_plans_find(&batch->shape);
	run->wanted = ou_keyset_from_array(run->plans->target, batch->keys);
	describe_result(run);
	lock_rows(run);
	demand_all(run);
	if (batch->shape.change != CHANGE_NONE)
		change_rows(run);
}

/*
 * Lock the rows of a batch in key order, change them, and put them into the
 * result in key order.
 *
 * Raises what the steps raise: see ou_plans_find, ou_keyset_from_array,
 * demand_all, check_counter, cast_amount, check_changed, and all that the
 * server says of the statements.  Nothing is kept after an error.
 */
void
ou_batch_run(Batch *batch)
{
	BatchRun	run = {.batch = batch};
	ErrorContextCallback callback = {
		.previous = error_context_stack,
		.callback = add_context,
		.arg = &run,
	};

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	run.context = CurrentMemoryContext;
	error_context_stack = &callback;
	run_steps(&run);
	error_context_stack = callback.previous;
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
}
