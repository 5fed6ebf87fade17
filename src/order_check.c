/*-------------------------------------------------------------------------
 *
 * order_check.c
 *		What this transaction has locked so far, and in which order.
 *
 * Each batch leaves the highest key that it locked, the position in its table.
 * Tables are in the order of their schema-qualified names, as bytes, rows in
 * that of the primary key.  Positions belong to the subtransaction that
 * recorded them, and go with it if it is rolled back, as the row locks do.
 *
 * Here is kept and compared what is known.  Whether a row is held already,
 * which makes a position harmless, is found out by the caller.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rls.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "order_check.h"
#include "settings.h"

/* One column of a position's key. */
typedef struct PositionColumn
{
	AttrNumber	attnum;
	Oid			type;
	Oid			output;			/* output function of type */
	int16		typlen;
	bool		typbyval;
} PositionColumn;

/* How many values the keys of a batch may have to be remembered. */
#define MAX_BATCH_VALUES 64

/* The highest key of a table that a subtransaction locked. */
struct OrderPosition
{
	dlist_node	node;
	Oid			relid;
	char	   *table;			/* schema.name, which gives the order */
	char	   *names;			/* of the key columns, as (a, b) */
	SubTransactionId subid;
	LockStrength weakest;		/* of the locks up to here */
	int			ncolumns;
	PositionColumn *columns;
	Datum	   *key;
	LockStrength batch_strength;	/* of the last batch, if it was small and
									 * of values that need no memory of their
									 * own: */
	int			nbatch;			/* its keys, in key order */
	Datum		batch[MAX_BATCH_VALUES];
};

/* Positions of the current transaction, in TopTransactionContext. */
static dlist_head positions = DLIST_STATIC_INIT(positions);

/* How many statements are remembered that no batch has come after yet. */
#define MAX_ROWS 16

/*
 * Last rows of the transaction's ordered statements, in turn.  Whether they are
 * locked is not known before it is looked at.
 */
static RowPosition rows[MAX_ROWS];
static uint64 nrows = 0;

/*
 * Forget a position.
 */
static void
free_position(OrderPosition *position)
{
	dlist_delete(&position->node);
	for (int i = 0; position->key != NULL && i < position->ncolumns; i++)
		if (!position->columns[i].typbyval)
			pfree(DatumGetPointer(position->key[i]));
	if (position->key != NULL)
		pfree(position->key);
	pfree(position->columns);
	pfree(position->table);
	pfree(position->names);
	pfree(position);
}

/*
 * Free the key of a row: what has none is not there.
 */
static void
free_key(RowPosition *row)
{
	for (int i = 0; row->has_key && i < row->ncolumns; i++)
		if (!row->columns[i].typbyval)
			pfree(DatumGetPointer(row->key[i]));
	row->has_key = false;
}

/*
 * Forget all positions at the end of the transaction.
 */
static void
end_transaction(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
	{
		dlist_init(&positions);
		for (int i = 0; i < MAX_ROWS; i++)
			rows[i].has_key = false;
		nrows = 0;
	}
}

/*
 * Forget the rows noted by a subtransaction that is rolled back, and by those
 * in it, which have higher numbers: not only their locks are gone, but maybe
 * their table's lock as well.
 */
static void
forget_rows(SubTransactionId subid)
{
	for (int i = 0; i < MAX_ROWS; i++)
		if (rows[i].subid >= subid)
			free_key(&rows[i]);
}

/*
 * At the end of a subtransaction give its positions to its parent, or forget
 * them.
 */
static void
end_subtransaction(SubXactEvent event, SubTransactionId subid,
				   SubTransactionId parent, void *arg)
{
	dlist_mutable_iter iter;

	if (event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB)
		return;
	if (event == SUBXACT_EVENT_ABORT_SUB)
		forget_rows(subid);
	dlist_foreach_modify(iter, &positions)
	{
		OrderPosition *position = dlist_container(OrderPosition, node, iter.cur);

		if (position->subid != subid)
			continue;
		if (event == SUBXACT_EVENT_COMMIT_SUB)
			position->subid = parent;
		else
			free_position(position);
	}
}

/*
 * Have the end of transactions told.
 */
void
ou_order_install(void)
{
	RegisterXactCallback(end_transaction, NULL);
	RegisterSubXactCallback(end_subtransaction, NULL);
}

/*
 * Whether this transaction can have locked anything that a batch on a table
 * has to be compared with.  table_was_locked tells if it held the table, in
 * ROW SHARE mode or stronger, before the batch came.
 */
bool
ou_order_is_watched(bool table_was_locked)
{
	return ou_order_check != ORDER_CHECK_OFF &&
		(table_was_locked || nrows > 0 || !dlist_is_empty(&positions));
}

/*
 * Whether nobody else can hold a row of a table: it is temporary, or this
 * transaction has locked it against all that lock rows, as it has a table that
 * it created, altered, emptied or dropped.
 */
static bool
is_private(Oid relid)
{
	LOCKTAG		tag;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
	return ou_compat_lock_is_held(&tag, ExclusiveLock) ||
		get_rel_persistence(relid) == RELPERSISTENCE_TEMP;
}

/*
 * Whether nobody else can hold a row of target.
 */
bool
ou_order_is_private(const Target *target)
{
	return is_private(target->relid);
}

/*
 * Whether the key of a position is of the types that the table's key is of
 * now: the table could have been changed by this very transaction.
 */
static bool
matches_key(const OrderPosition *position, const KeyType *key)
{
	if (position->ncolumns != key->ncolumns)
		return false;
	for (int i = 0; i < key->ncolumns; i++)
		if (position->columns[i].attnum != key->columns[i].attnum ||
			position->columns[i].type != key->columns[i].type)
			return false;
	return true;
}

/*
 * Make an empty position for target in the current subtransaction.
 */
static OrderPosition *
make_position(const Target *target)
{
	const KeyType *key = target->key;
	MemoryContext caller = MemoryContextSwitchTo(TopTransactionContext);
	OrderPosition *position = palloc0(sizeof(OrderPosition));

	position->names = pstrdup(target->key_names);
	position->table = pstrdup(target->qualified);
	position->relid = target->relid;
	position->subid = GetCurrentSubTransactionId();
	position->weakest = STRENGTH_UPDATE;
	position->ncolumns = key->ncolumns;
	position->columns = palloc(key->ncolumns * sizeof(PositionColumn));
	for (int i = 0; i < key->ncolumns; i++)
	{
		position->columns[i].attnum = key->columns[i].attnum;
		position->columns[i].type = key->columns[i].type;
		position->columns[i].output = key->columns[i].output;
		position->columns[i].typlen = key->columns[i].typlen;
		position->columns[i].typbyval = key->columns[i].typbyval;
	}
	dlist_push_tail(&positions, &position->node);
	MemoryContextSwitchTo(caller);
	return position;
}

/*
 * Copy a value of a key, whole: that of a long one can be in a TOAST table,
 * which may be emptied before the position is reported.
 */
static Datum
copy_value(Datum value, const PositionColumn *column)
{
	if (column->typlen == -1)
		return PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	return datumCopy(value, column->typbyval, column->typlen);
}

/*
 * Copy a key into a position.
 */
static void
set_key(OrderPosition *position, const Datum *key)
{
	MemoryContext caller = MemoryContextSwitchTo(TopTransactionContext);

	if (position->key == NULL)
		position->key = palloc(position->ncolumns * sizeof(Datum));
	else
		for (int i = 0; i < position->ncolumns; i++)
			if (!position->columns[i].typbyval)
				pfree(DatumGetPointer(position->key[i]));
	for (int i = 0; i < position->ncolumns; i++)
		position->key[i] = copy_value(key[i], &position->columns[i]);
	MemoryContextSwitchTo(caller);
}

/*
 * Let a position take in the lock of rows of target up to key.
 */
static void
advance(OrderPosition *position, const Target *target, const Datum *key, LockStrength strength)
{
	position->weakest = Min(position->weakest, strength);
	if (position->key == NULL || ou_keytype_compare(target->key, position->key, key) < 0)
		set_key(position, key);
}

/*
 * Let a position take in the others in target of its subtransaction, which have
 * been left to it by those that ended.
 */
static void
gather(OrderPosition *position, const Target *target)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &positions)
	{
		OrderPosition *other = dlist_container(OrderPosition, node, iter.cur);

		if (other == position || other->relid != target->relid ||
			other->subid != position->subid || !matches_key(other, target->key))
			continue;
		advance(position, target, other->key, other->weakest);
		free_position(other);
	}
}

/*
 * Find the position in target of a subtransaction, NULL if there is none.  On
 * the way each subtransaction's become one: else a loop with a savepoint in it
 * would make ever more of them.
 */
static OrderPosition *
find_own_position(const Target *target, SubTransactionId subid)
{
	OrderPosition *own = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, &positions)
	{
		OrderPosition *position = dlist_container(OrderPosition, node, iter.cur);

		if (position->relid != target->relid || !matches_key(position, target->key))
			continue;
		gather(position, target);
		if (position->subid == subid)
			own = position;
	}
	return own;
}

/*
 * Record that rows of target up to key are now locked with the given strength.
 * Nobody waits for a row of a temporary table.
 */
void
ou_order_record(const Target *target, const Datum *key, LockStrength strength)
{
	OrderPosition *position;

	if (ou_order_check == ORDER_CHECK_OFF ||
		get_rel_persistence(target->relid) == RELPERSISTENCE_TEMP)
		return;
	position = find_own_position(target, GetCurrentSubTransactionId());
	if (position == NULL)
		position = make_position(target);
	advance(position, target, key, strength);
}

/*
 * Whether the keys of a batch can be remembered.
 */
static bool
is_memorable(const Keyset *keys)
{
	for (int i = 0; i < keys->keytype->ncolumns; i++)
		if (!keys->keytype->columns[i].typbyval)
			return false;
	return keys->nkeys <= MAX_BATCH_VALUES / keys->keytype->ncolumns;
}

/*
 * Remember the keys of a batch that was just recorded, all of them locked: a
 * transaction tends to come back to the same rows.
 */
void
ou_order_remember(const Target *target, const Keyset *locked, LockStrength strength)
{
	OrderPosition *position;

	if (ou_order_check == ORDER_CHECK_OFF || !is_memorable(locked))
		return;
	position = find_own_position(target, GetCurrentSubTransactionId());
	if (position == NULL)
		return;
	position->batch_strength = strength;
	position->nbatch = locked->nkeys;
	memcpy(position->batch, locked->values,
		   (Size) locked->nkeys * locked->keytype->ncolumns * sizeof(Datum));
}

/*
 * Whether all wanted keys are among those of the batch that position remembers.
 */
static bool
remembers_all(const OrderPosition *position, const Keyset *wanted)
{
	const Datum *remembered = position->batch;
	int			nleft = position->nbatch;

	for (int i = 0; i < wanted->nkeys; i++)
	{
		int			order = 1;

		for (; nleft > 0 && order > 0; nleft--, remembered += position->ncolumns)
		{
			order = ou_keytype_compare(wanted->keytype, ou_keyset_key(wanted, i), remembered);
			if (order < 0)
				return false;
		}
		if (order != 0)
			return false;
	}
	return true;
}

/*
 * Whether a batch that is remembered has locked all the wanted rows, and as
 * strongly.
 */
bool
ou_order_holds(const Target *target, const Keyset *wanted, LockStrength strength)
{
	dlist_iter	iter;

	dlist_foreach(iter, &positions)
	{
		OrderPosition *position = dlist_container(OrderPosition, node, iter.cur);

		if (position->relid == target->relid && position->nbatch >= wanted->nkeys &&
			position->batch_strength >= strength &&
			matches_key(position, target->key) && remembers_all(position, wanted))
			return true;
	}
	return false;
}

/*
 * Copy a key into row, in place of the one it has.
 */
void
ou_order_copy_row(RowPosition *row, const Datum *key)
{
	MemoryContext caller = MemoryContextSwitchTo(row->context);

	free_key(row);
	for (int i = 0; i < row->ncolumns; i++)
		row->key[i] = datumCopy(key[i], row->columns[i].typbyval, row->columns[i].typlen);
	row->has_key = true;
	MemoryContextSwitchTo(caller);
}

/*
 * Note the last row of an ordered statement, in place of the oldest one noted
 * if there are many.
 */
void
ou_order_note_row(const RowPosition *row)
{
	RowPosition *noted = &rows[nrows++ % MAX_ROWS];

	free_key(noted);
	*noted = *row;
	noted->context = TopTransactionContext;
	noted->subid = GetCurrentSubTransactionId();
	noted->has_key = false;
	ou_order_copy_row(noted, row->key);
}

/*
 * Whether the key of a row is of the types of the table's key.
 */
static bool
row_matches_key(const RowPosition *row, const KeyType *key)
{
	if (row->ncolumns != key->ncolumns)
		return false;
	for (int i = 0; i < key->ncolumns; i++)
		if (getBaseType(row->columns[i].type) != key->columns[i].type)
			return false;
	return true;
}

/*
 * Find out which of the rows noted are locked, and record their positions.  The
 * rows that were not locked in the end, as they changed meanwhile, are
 * forgotten, and so are those of tables that are private by now, which may not
 * even be there.  All other tables are still locked.  target is a table
 * described already.
 */
void
ou_order_settle_rows(const Target *target)
{
	int			count = Min(nrows, MAX_ROWS);

	nrows = 0;
	for (int i = 0; i < count; i++)
	{
		RowPosition *row = &rows[i];
		const Target *table = target;
		LockStrength held;

		if (!row->has_key || is_private(row->relid) || is_private(row->tableoid))
			continue;
		held = ou_row_lock_held(row->tableoid, &row->ctid);
		if (held == STRENGTH_AS_NEEDED || held == STRENGTH_OWN)
			continue;
		if (row->relid != target->relid)
			table = ou_target_describe_key(row->relid);
		if (table != NULL && row_matches_key(row, table->key))
			ou_order_record(table, row->key, held);
	}
	for (int i = 0; i < count; i++)
		free_key(&rows[i]);
}

/*
 * Whether this transaction has created a table, which nobody else can see.
 */
static bool
is_new(Oid relid)
{
	Relation	rel = RelationIdGetRelation(relid);
	bool		result = false;

	if (RelationIsValid(rel))
	{
		result = rel->rd_createSubid != InvalidSubTransactionId;
		RelationClose(rel);
	}
	return result;
}

/*
 * Find a position in a table that comes after target.  NULL if there is none.
 */
const OrderPosition *
ou_order_find_later_table(const Target *target)
{
	const OrderPosition *later = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, &positions)
	{
		OrderPosition *position = dlist_container(OrderPosition, node, iter.cur);

		if (position->relid != target->relid &&
			strcmp(position->table, target->qualified) > 0 && !is_new(position->relid))
			later = position;
	}
	return later;
}

/*
 * Find the highest position in target.  NULL if there is none.
 */
const OrderPosition *
ou_order_find_highest(const Target *target)
{
	const OrderPosition *highest = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, &positions)
	{
		OrderPosition *position = dlist_container(OrderPosition, node, iter.cur);

		if (position->relid == target->relid && matches_key(position, target->key) &&
			(highest == NULL || ou_keytype_compare(target->key, highest->key, position->key) < 0))
			highest = position;
	}
	return highest;
}

/*
 * Whether key comes before a position in the same table.
 */
bool
ou_order_is_below(const Target *target, const Datum *key, const OrderPosition *position)
{
	return ou_keytype_compare(target->key, key, position->key) < 0;
}

/*
 * The weakest lock that led up to a position.
 */
LockStrength
ou_order_weakest(const OrderPosition *position)
{
	return position->weakest;
}

/*
 * Whether the key of a position may be shown: to who may read the table, as all
 * of it could have been locked for another role, and if the table and the types
 * of its key are still there.
 */
static bool
is_printable(const OrderPosition *position)
{
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(position->relid)) ||
		!ou_target_is_readable(position->relid) ||
		check_enable_rls(position->relid, InvalidOid, true) == RLS_ENABLED)
		return false;
	for (int i = 0; i < position->ncolumns; i++)
		if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(position->columns[i].type)))
			return false;
	return true;
}

/*
 * Append a position, as table "public.articles", key (id)=(3).
 */
static void
print_position(StringInfo out, const OrderPosition *position)
{
	appendStringInfo(out, "table \"%s\"", position->table);
	if (!is_printable(position))
		return;
	appendStringInfo(out, ", key %s=(", position->names);
	for (int i = 0; i < position->ncolumns; i++)
		appendStringInfo(out, "%s%s", i > 0 ? ", " : "",
						 OidOutputFunctionCall(position->columns[i].output, position->key[i]));
	appendStringInfoChar(out, ')');
}

/*
 * Make the text of a key of target, as key (id)=(3).
 */
static char *
key_text(const Target *target, const Datum *key)
{
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfo(&out, "key %s=", target->key_names);
	ou_keytype_print(&out, target->key, key);
	return out.data;
}

/*
 * Report a broken order: as a warning, or as error 55U01.
 */
static void
report(const Target *target, const char *detail)
{
	ereport(ou_order_check == ORDER_CHECK_ERROR ? ERROR : WARNING,
			(errcode(ERRCODE_ORDER_BROKEN),
			 errmsg("rows of table \"%s\" are locked out of order", target->name),
			 errdetail_internal("%s", detail),
			 errhint("Lock all rows that the transaction changes before anything else, in one call: ordered_lock, or ordered_lock_all for several tables."),
			 err_generic_string(PG_DIAG_SCHEMA_NAME, target->schema),
			 err_generic_string(PG_DIAG_TABLE_NAME, target->name)));
}

/*
 * Report that rows of a table that comes later are held.
 */
void
ou_order_report_table(const Target *target, const OrderPosition *held)
{
	StringInfoData position;

	initStringInfo(&position);
	print_position(&position, held);
	report(target,
		   psprintf(_("This transaction holds %s, and now wants rows of table \"%s\", which comes first."),
					position.data, target->qualified));
}

/*
 * Report that a row with a higher key than wanted is held, by an earlier batch.
 */
void
ou_order_report_position(const Target *target, const Datum *wanted,
						 const OrderPosition *held)
{
	if (is_printable(held))
		ou_order_report_key(target, wanted, held->key);
	else
		report(target,
			   psprintf(_("This transaction holds a row with a higher key, and now wants %s, which comes first."),
						key_text(target, wanted)));
}

/*
 * Report that a row with a higher key than wanted is held.
 */
void
ou_order_report_key(const Target *target, const Datum *wanted,
					const Datum *held)
{
	report(target,
		   psprintf(_("This transaction holds %s, and now wants %s, which comes first."),
					key_text(target, held), key_text(target, wanted)));
}

/*
 * Report that a row is held with less strength than wanted.
 */
void
ou_order_report_upgrade(const Target *target, const Datum *key,
						LockStrength held, LockStrength wanted)
{
	report(target,
		   psprintf(_("This transaction holds %s FOR %s, and now wants it FOR %s: two that do so wait for each other."),
					key_text(target, key), ou_row_lock_name(held),
					ou_row_lock_name(wanted)));
}

/*
 * Append all positions of this transaction, for the context of a deadlock.
 */
void
ou_order_describe(StringInfo out)
{
	dlist_iter	iter;

	dlist_foreach(iter, &positions)
	{
		appendStringInfoString(out, out->len > 0 ? "; " : "");
		print_position(out, dlist_container(OrderPosition, node, iter.cur));
	}
}
