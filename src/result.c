/*-------------------------------------------------------------------------
 *
 * result.c
 *		The rows that a verb returns, in key order.
 *
 * A statement that locks rows delivers them in key order.  One that changes
 * locked rows delivers them in the order of the table: those are sorted here,
 * unless they happen to come in key order.  All memory but the store's is in the
 * context of ou_result_begin.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "result.h"

/*
 * Begin to collect rows for store, of row type desc: the row type of target,
 * or an id and a revision.
 */
void
ou_result_begin(BatchResult *result, const Target *target, ResultShape shape,
				Tuplestorestate *store, TupleDesc desc)
{
	result->context = CurrentMemoryContext;
	result->target = target;
	result->shape = shape;
	result->store = store;
	result->desc = desc;
	result->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	result->expected = NULL;
	result->next = 0;
	result->sort = NULL;
	result->nfields = 0;
	result->fields = palloc(desc->natts * sizeof(int));
	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			result->fields[result->nfields++] = i;
}

/*
 * Load the row that a statement returned in its columns from first on.  The
 * values stay with from.
 */
void
ou_result_load(BatchResult *result, TupleTableSlot *from, int first)
{
	TupleTableSlot *slot = result->slot;

	slot_getallattrs(from);
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, result->desc->natts);
	for (int i = 0; i < result->nfields; i++)
	{
		slot->tts_values[result->fields[i]] = from->tts_values[first + i];
		slot->tts_isnull[result->fields[i]] = from->tts_isnull[first + i];
	}
	ExecStoreVirtualTuple(slot);
}

/*
 * Field of the result, from 0, that holds key column i.
 */
static int
key_field(const BatchResult *result, int i)
{
	if (result->shape == RESULT_ID_REVISION)
		return 0;
	return result->target->key->columns[i].attnum - 1;
}

/*
 * Read the key of the row at hand, a Datum for each column of the key.
 */
void
ou_result_read_key(const BatchResult *result, Datum *key)
{
	for (int i = 0; i < result->target->key->ncolumns; i++)
		key[i] = result->slot->tts_values[key_field(result, i)];
}

/*
 * Raise 22004 for a counter of the row at hand.
 */
static void
report_null_counter(const BatchResult *result, AttrNumber counter)
{
	const Target *target = result->target;
	const char *column = target->columns[counter - 1].name;
	StringInfoData values;

	initStringInfo(&values);
	for (int i = 0; i < target->key->ncolumns; i++)
	{
		int			field = key_field(result, i);
		Oid			output;
		bool		isvarlena;

		getTypeOutputInfo(TupleDescAttr(result->desc, field)->atttypid,
						  &output, &isvarlena);
		appendStringInfo(&values, "%s%s", i > 0 ? ", " : "",
						 OidOutputFunctionCall(output, result->slot->tts_values[field]));
	}
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("counter \"%s\" of table \"%s\" is null", column, target->name),
			 errdetail("The row has key %s=(%s).", target->key_names, values.data),
			 errhint("Set the counter to a value, and declare the column NOT NULL."),
			 err_generic_string(PG_DIAG_SCHEMA_NAME, target->schema),
			 err_generic_string(PG_DIAG_TABLE_NAME, target->name),
			 err_generic_string(PG_DIAG_COLUMN_NAME, column)));
}

/*
 * Check that the counters, attribute numbers of the table, are not null in the
 * row at hand: NULL + 1 must not be reported as success.  Raises 22004.
 */
void
ou_result_check_counters(BatchResult *result, const Bitmapset *counters)
{
	int			attnum = -1;

	while ((attnum = bms_next_member(counters, attnum)) >= 0)
	{
		int			field = result->shape == RESULT_ID_REVISION ? 1 : attnum - 1;

		if (result->slot->tts_isnull[field])
			report_null_counter(result, attnum);
	}
}

/*
 * Append the row at hand, which comes after the one before it in key order.
 */
void
ou_result_append(BatchResult *result)
{
	tuplestore_puttupleslot(result->store, result->slot);
}

/*
 * Whether the key of the row at hand is the next one of those expected that is
 * not left out.
 */
static bool
comes_next(BatchResult *result)
{
	const Keyset *expected = result->expected;
	Datum		key[INDEX_MAX_KEYS];

	if (expected == NULL)
		return false;
	ou_result_read_key(result, key);
	while (result->next < expected->nkeys)
	{
		int			order = ou_keytype_compare(expected->keytype,
											   ou_keyset_key(expected, result->next++), key);

		if (order >= 0)
			return order == 0;
	}
	return false;
}

/*
 * Begin to sort rows by key that come in any order, and have keys that are among
 * those expected.
 */
void
ou_result_begin_sort(BatchResult *result, const Keyset *expected)
{
	/* The short form returns integers, whatever the key is. */
	if (result->shape == RESULT_ROW || expected->keytype->columns[0].type == INT4OID)
		result->expected = expected;
}

/*
 * Make the sort, which outlives the statement that delivers rows, and move the
 * rows that came so far from the store to it.
 */
static void
start_sorting(BatchResult *result)
{
	MemoryContext caller = MemoryContextSwitchTo(result->context);
	TupleTableSlot *stored = MakeSingleTupleTableSlot(result->desc, &TTSOpsMinimalTuple);
	KeyType    *key = result->target->key;
	AttrNumber *columns = palloc(key->ncolumns * sizeof(AttrNumber));
	Oid		   *operators = palloc(key->ncolumns * sizeof(Oid));
	Oid		   *collations = palloc(key->ncolumns * sizeof(Oid));
	bool	   *nulls_first = palloc0(key->ncolumns * sizeof(bool));

	for (int i = 0; i < key->ncolumns; i++)
	{
		columns[i] = key_field(result, i) + 1;
		operators[i] = result->shape == RESULT_ID_REVISION ?
			Int4LessOperator : key->columns[i].less;
		collations[i] = key->columns[i].collation;
	}
	result->sort = tuplesort_begin_heap(result->desc, key->ncolumns, columns, operators,
										collations, nulls_first, work_mem, NULL,
										TUPLESORT_NONE);
	while (tuplestore_gettupleslot(result->store, true, false, stored))
	{
		CHECK_FOR_INTERRUPTS();
		tuplesort_puttupleslot(result->sort, stored);
	}
	ExecDropSingleTupleTableSlot(stored);
	tuplestore_clear(result->store);
	MemoryContextSwitchTo(caller);
}

/*
 * Give the row at hand to the sort.  It goes straight to the store as long as
 * there is nothing to sort.
 */
void
ou_result_sort(BatchResult *result)
{
	if (result->sort == NULL)
	{
		if (comes_next(result))
		{
			ou_result_append(result);
			return;
		}
		start_sorting(result);
	}
	tuplesort_puttupleslot(result->sort, result->slot);
}

/*
 * Append the sorted rows.
 */
void
ou_result_end_sort(BatchResult *result)
{
	TupleTableSlot *sorted;

	if (result->sort == NULL)
		return;
	sorted = MakeSingleTupleTableSlot(result->desc, &TTSOpsMinimalTuple);
	tuplesort_performsort(result->sort);
	while (tuplesort_gettupleslot(result->sort, true, false, sorted, NULL))
	{
		CHECK_FOR_INTERRUPTS();
		tuplestore_puttupleslot(result->store, sorted);
	}
	ExecDropSingleTupleTableSlot(sorted);
	tuplesort_end(result->sort);
	result->sort = NULL;
}
