/*-------------------------------------------------------------------------
 *
 * order_watch.c
 *		The watch: does a batch break the order of its transaction?
 *
 * The first test is cheap: a transaction that held nothing before has no order
 * to break, and one whose batches ascend is not looked at further.  Only where
 * the order may be broken are the headers of the wanted rows read, to tell
 * which of them the transaction holds already.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/tuptable.h"
#include "tcop/dest.h"

#include "order_check.h"
#include "order_watch.h"

/* What a look at the headers of wanted rows has found. */
typedef struct HeldRows
{
	KeyType    *key;
	MemoryContext context;		/* of the keys below */
	LockStrength wanted;
	Datum	   *unheld;			/* lowest key that is not held, or NULL */
	Datum	   *held;			/* lowest key above unheld that is held so
								 * that a batch like this one has to wait for
								 * it, or NULL */
	Datum	   *weak;			/* lowest key that is held too weakly, or NULL */
	LockStrength weak_strength;
} HeldRows;

/* A DestReceiver that looks at headers. */
typedef struct HeaderReceiver
{
	DestReceiver pub;
	HeldRows   *rows;
} HeaderReceiver;

/*
 * Receive where a wanted row is, and see if this transaction holds it.
 */
static bool
receive_header(TupleTableSlot *slot, DestReceiver *self)
{
	HeldRows   *rows = ((HeaderReceiver *) self)->rows;
	LockStrength strength;

	slot_getallattrs(slot);
	strength = ou_row_lock_held(DatumGetObjectId(slot->tts_values[0]),
								(ItemPointer) DatumGetPointer(slot->tts_values[1]));
	if (strength == STRENGTH_OWN)
		return true;
	if (strength == STRENGTH_AS_NEEDED)
	{
		if (rows->unheld == NULL)
			rows->unheld = ou_keytype_copy(rows->key, slot->tts_values + 2, rows->context);
		return true;
	}
	if (rows->unheld != NULL && rows->held == NULL &&
		ou_row_lock_conflicts(strength, rows->wanted))
		rows->held = ou_keytype_copy(rows->key, slot->tts_values + 2, rows->context);
	if (rows->weak == NULL && ou_row_lock_upgrade_deadlocks(strength, rows->wanted))
	{
		rows->weak = ou_keytype_copy(rows->key, slot->tts_values + 2, rows->context);
		rows->weak_strength = strength;
	}
	return true;
}

/*
 * What the receiver does before and after its rows: nothing.
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
 * Look which of the wanted rows this transaction holds.
 */
static void
look_at_headers(BatchPlans *plans, const Keyset *wanted, HeldRows *rows)
{
	HeaderReceiver receiver = {
		.pub.receiveSlot = receive_header,
		.pub.rStartup = start_receiving,
		.pub.rShutdown = end_receiving,
		.pub.rDestroy = end_receiving,
		.pub.mydest = DestNone,
		.rows = rows,
	};
	Datum	   *values = palloc(wanted->keytype->ncolumns * sizeof(Datum));

	rows->key = wanted->keytype;
	rows->context = CurrentMemoryContext;
	rows->wanted = ou_sql_strength(plans->target, &plans->shape);
	ou_keyset_to_params(wanted, values);
	ou_plans_execute(plans, STATEMENT_HEADERS, values, &receiver.pub);
}

/*
 * Whether it takes a look at the rows to know if the order is broken: either
 * no batch of the transaction tells which rows it holds of the table, or one
 * that does was further on, or locked with less strength.
 */
static bool
needs_look(const BatchPlans *plans, const Keyset *wanted, const OrderPosition *later,
		   const OrderPosition *highest)
{
	const Target *target = plans->target;

	if (!ou_target_is_readable(target->relid))
		return false;
	return later != NULL || highest == NULL ||
		ou_order_is_below(target, ou_keyset_key(wanted, 0), highest) ||
		ou_order_weakest(highest) < ou_sql_strength(target, &plans->shape);
}

/*
 * Compare the wanted rows of a batch with what this transaction has locked
 * before, and report what breaks the order: a row held too weakly, rows of a
 * table or a row that come later.  Rows that are held already are no fault.
 * What is not certain is not reported, and nothing of a batch that waits for
 * nobody.
 *
 * was_locked tells if the transaction held the table before the batch came.
 * Raises 55U01 if ordered_update.order_check asks for an error.
 */
void
ou_watch_check(bool was_locked, BatchPlans *plans, const Keyset *wanted)
{
	const Target *target = plans->target;
	const OrderPosition *later;
	const OrderPosition *highest;
	HeldRows	rows = {0};

	if (!ou_order_is_watched(was_locked) || ou_order_is_private(target) ||
		plans->shape.wait == WAIT_NOT)
		return;
	if (ou_order_holds(target, wanted, ou_sql_strength(target, &plans->shape)))
		return;
	ou_order_settle_rows(target);
	later = ou_order_find_later_table(target);
	highest = ou_order_find_highest(target);
	if (!was_locked && later != NULL)
		ou_order_report_table(target, later);
	if (!was_locked || !needs_look(plans, wanted, later, highest))
		return;

	look_at_headers(plans, wanted, &rows);
	if (rows.weak != NULL)
		ou_order_report_upgrade(target, rows.weak, rows.weak_strength, rows.wanted);
	else if (rows.unheld == NULL)
		return;
	else if (later != NULL)
		ou_order_report_table(target, later);
	else if (highest != NULL && ou_order_is_below(target, rows.unheld, highest))
		ou_order_report_position(target, rows.unheld, highest);
	else if (rows.held != NULL)
		ou_order_report_key(target, rows.unheld, rows.held);
}
