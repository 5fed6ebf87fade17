/*-------------------------------------------------------------------------
 *
 * changes.c
 *		The changes of a JSON batch, read into typed rows in key order.
 *
 * The rows arrive from the statement that reads the batch, sorted by key.
 * They are kept in a tuplestore, as wide and as many as they may be; only the
 * keys stay in memory.  To the statement that changes rows they are handed as a
 * named relation, as transition tables are: all of them where it locks the rows
 * itself, else some that are picked into another tuplestore, with the ctids of
 * the locked rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "changes.h"
#include "compat.h"

/*
 * Begin to collect the changes of a batch of the given shape.  All memory is
 * in the current context.
 */
void
ou_changes_begin(Changes *changes, const Target *target, const BatchShape *shape)
{
	memset(changes, 0, sizeof(*changes));
	changes->context = CurrentMemoryContext;
	changes->target = target;
	changes->shape = shape;
	changes->keys = ou_keyset_make(target->key);
}

/*
 * Get ready for rows of type desc.
 */
void
ou_changes_open(Changes *changes, TupleDesc desc)
{
	MemoryContext caller = MemoryContextSwitchTo(changes->context);

	changes->desc = CreateTupleDescCopy(desc);
	changes->rows = tuplestore_begin_heap(false, false, work_mem);
	changes->previous = MakeSingleTupleTableSlot(changes->desc, &TTSOpsMinimalTuple);
	changes->current = MakeSingleTupleTableSlot(changes->desc, &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(caller);
}

/*
 * Check that no key column of a row is null: 22004.
 */
static void
check_key(const Changes *changes, TupleTableSlot *row)
{
	KeyType    *key = changes->target->key;

	for (int i = 0; i < key->ncolumns; i++)
		if (row->tts_isnull[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("key column \"%s\" must not be null", key->columns[i].name)));
}

/*
 * Check that the amounts of a row can be added to their counters: 22023 for a
 * fraction and a whole-numbered counter.
 */
static void
check_amounts(const Changes *changes, TupleTableSlot *row)
{
	Bitmapset  *counters = ou_sql_changed_columns(changes->target, changes->shape);
	int			field = changes->target->key->ncolumns;
	int			attnum = -1;

	for (; (attnum = bms_next_member(counters, attnum)) >= 0; field++)
		if (!row->tts_isnull[field])
			ou_target_check_amount(changes->target, attnum,
								   DatumGetNumeric(row->tts_values[field]));
	bms_free(counters);
}

/*
 * Whether a row says the same as the one before it, the keys aside.
 */
static bool
repeats_previous(const Changes *changes, TupleTableSlot *row)
{
	TupleTableSlot *previous = changes->previous;

	slot_getallattrs(previous);
	for (int i = changes->target->key->ncolumns; i < changes->desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(changes->desc, i);

		if (row->tts_isnull[i] != previous->tts_isnull[i])
			return false;
		if (!row->tts_isnull[i] &&
			!datum_image_eq(row->tts_values[i], previous->tts_values[i],
							att->attbyval, att->attlen))
			return false;
	}
	return true;
}

/*
 * Whether a row is for the same key as the one before it.  Raises 21000 when
 * it gives the key other values.
 */
static bool
is_duplicate(const Changes *changes, TupleTableSlot *row)
{
	const Target *target = changes->target;
	int			nkeys = changes->keys->nkeys;
	StringInfoData values;

	if (nkeys == 0 ||
		ou_keytype_compare(target->key, ou_keyset_key(changes->keys, nkeys - 1),
						   row->tts_values) != 0)
		return false;
	if (repeats_previous(changes, row))
		return true;

	initStringInfo(&values);
	ou_keytype_print(&values, target->key, row->tts_values);
	ereport(ERROR,
			(errcode(ERRCODE_CARDINALITY_VIOLATION),
			 errmsg("batch changes a row of table \"%s\" twice, to different values",
					target->name),
			 errdetail("The key given twice is %s=%s.", target->key_names, values.data)));
}

/*
 * Add a row, which comes in key order.  A repeated row is left out.
 *
 * Raises 22004 for a null key, 21000 for a key with different values, 22023
 * for an amount that does not fit its counter.
 */
void
ou_changes_add(Changes *changes, TupleTableSlot *row)
{
	slot_getallattrs(row);
	check_key(changes, row);
	if (changes->shape->change == CHANGE_ADD)
		check_amounts(changes, row);
	else if (is_duplicate(changes, row))
		return;
	ou_keyset_append(changes->keys, row->tts_values);
	tuplestore_puttupleslot(changes->rows, row);
	ExecCopySlot(changes->previous, row);
}

/*
 * Read the next row back, which becomes the current one.  False at the end.
 */
bool
ou_changes_next(Changes *changes)
{
	if (!tuplestore_gettupleslot(changes->rows, true, false, changes->current))
		return false;
	slot_getallattrs(changes->current);
	changes->nread++;
	return true;
}

/*
 * Attribute numbers of the columns that the current row names, those of the
 * key too.
 */
Bitmapset *
ou_changes_named(const Changes *changes)
{
	Bitmapset  *named = bms_copy(changes->shape->columns);
	int			field = changes->desc->natts - bms_num_members(changes->shape->optional);
	int			attnum = -1;

	while ((attnum = bms_next_member(changes->shape->optional, attnum)) >= 0)
		if (!DatumGetBool(changes->current->tts_values[field++]))
			named = bms_del_member(named, attnum);
	return named;
}

/*
 * Choose the columns of picked rows: the key and the values of the named
 * columns, or all there is if columns is the whole shape's.
 */
static int
choose_fields(Changes *changes, const Bitmapset *columns)
{
	const BatchShape *shape = changes->shape;
	Bitmapset  *changed = ou_sql_changed_columns(changes->target, shape);
	int			nfields = 0;
	int			field;
	int			attnum = -1;

	changes->pick_fields = palloc(changes->desc->natts * sizeof(int));
	for (field = 0; field < changes->target->key->ncolumns; field++)
		changes->pick_fields[nfields++] = field;
	for (; (attnum = bms_next_member(changed, attnum)) >= 0; field++)
		if (bms_is_member(attnum, columns))
			changes->pick_fields[nfields++] = field;
	for (; columns == shape->columns && field < changes->desc->natts; field++)
		changes->pick_fields[nfields++] = field;
	return nfields;
}

/*
 * Begin to pick rows for one run of the change statement: the columns it
 * needs, and, to locate rows by ctid, that in front.
 */
void
ou_changes_begin_picking(Changes *changes, LocateBy locate, const Bitmapset *columns)
{
	MemoryContext caller = MemoryContextSwitchTo(changes->context);
	int			first = locate == LOCATE_BY_CTID ? 1 : 0;
	int			nfields = choose_fields(changes, columns);
	TupleDesc	desc = CreateTemplateTupleDesc(first + nfields);

	if (first > 0)
		TupleDescInitEntry(desc, 1, OU_CHANGES_CTID, TIDOID, -1, 0);
	for (int i = 0; i < nfields; i++)
		TupleDescCopyEntry(desc, first + i + 1, changes->desc, changes->pick_fields[i] + 1);
	ou_compat_finish_tupdesc(desc);
	changes->pick_ctids = first > 0;
	changes->pick = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	changes->picked = tuplestore_begin_heap(false, false, work_mem);
	changes->npicked = 0;
	MemoryContextSwitchTo(caller);
}

/*
 * Pick the current row, to change the row at ctid.
 */
void
ou_changes_pick(Changes *changes, ItemPointer ctid)
{
	TupleTableSlot *pick = changes->pick;
	int			first = changes->pick_ctids ? 1 : 0;

	ExecClearTuple(pick);
	if (changes->pick_ctids)
	{
		pick->tts_values[0] = PointerGetDatum(ctid);
		pick->tts_isnull[0] = false;
	}
	for (int i = first; i < pick->tts_tupleDescriptor->natts; i++)
	{
		int			field = changes->pick_fields[i - first];

		pick->tts_values[i] = changes->current->tts_values[field];
		pick->tts_isnull[i] = changes->current->tts_isnull[field];
	}
	ExecStoreVirtualTuple(pick);
	tuplestore_puttupleslot(changes->picked, pick);
	changes->npicked++;
}

/*
 * Throw the picked rows away, and all that picking them took: there may be as
 * many runs as rows.
 */
void
ou_changes_end_picking(Changes *changes)
{
	TupleDesc	desc = changes->pick->tts_tupleDescriptor;

	ExecDropSingleTupleTableSlot(changes->pick);
	FreeTupleDesc(desc);
	pfree(changes->pick_fields);
	tuplestore_end(changes->picked);
	changes->picked = NULL;
	changes->npicked = 0;
}

/*
 * Give up what changes hold beyond memory, temporary files.  There may be no
 * changes at all.
 */
void
ou_changes_end(Changes *changes)
{
	if (changes->picked != NULL)
		ou_changes_end_picking(changes);
	if (changes->rows != NULL)
		tuplestore_end(changes->rows);
	changes->rows = NULL;
}

/*
 * Rows of type desc as a relation that a statement can name.
 */
static EphemeralNamedRelation
make_relation(TupleDesc desc, Tuplestorestate *rows)
{
	EphemeralNamedRelation relation = palloc0(sizeof(EphemeralNamedRelationData));

	relation->md.name = OU_CHANGES_NAME;
	relation->md.reliddesc = InvalidOid;
	relation->md.tupdesc = desc;
	relation->md.enrtype = ENR_NAMED_TUPLESTORE;
	relation->md.enrtuples = OU_CHANGES_ESTIMATE;
	relation->reldata = rows;
	return relation;
}

/*
 * All changes as a relation.
 */
EphemeralNamedRelation
ou_changes_all(const Changes *changes)
{
	return make_relation(changes->desc, changes->rows);
}

/*
 * The picked changes as a relation.
 */
EphemeralNamedRelation
ou_changes_picked(const Changes *changes)
{
	return make_relation(changes->pick->tts_tupleDescriptor, changes->picked);
}
