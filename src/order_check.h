/*-------------------------------------------------------------------------
 *
 * order_check.h
 *		What this transaction has locked so far, and in which order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_ORDER_CHECK_H
#define OU_ORDER_CHECK_H

#include "lib/stringinfo.h"

#include "keyset.h"
#include "row_lock.h"
#include "target.h"

/* SQLSTATE of a broken order. */
#define ERRCODE_ORDER_BROKEN MAKE_SQLSTATE('5', '5', 'U', '0', '1')

typedef struct OrderPosition OrderPosition;

/* One column of the key of a row that an ordered statement came to. */
typedef struct RowColumn
{
	Oid			type;
	int16		typlen;
	bool		typbyval;
} RowColumn;

/*
 * A row that an ordered statement came to, and may have locked.
 */
typedef struct RowPosition
{
	Oid			relid;			/* table that the statement names */
	Oid			tableoid;		/* table or partition that holds the row, */
	ItemPointerData ctid;		/* and where */
	SubTransactionId subid;		/* of the statement */
	MemoryContext context;		/* of the key's values */
	int			ncolumns;
	RowColumn	columns[INDEX_MAX_KEYS];
	bool		has_key;
	Datum		key[INDEX_MAX_KEYS];
} RowPosition;

extern void ou_order_install(void);
extern bool ou_order_is_watched(bool table_was_locked);
extern bool ou_order_is_private(const Target *target);
extern void ou_order_record(const Target *target, const Datum *key, LockStrength strength);
extern void ou_order_remember(const Target *target, const Keyset *locked, LockStrength strength);
extern bool ou_order_holds(const Target *target, const Keyset *wanted, LockStrength strength);
extern void ou_order_copy_row(RowPosition *row, const Datum *key);
extern void ou_order_note_row(const RowPosition *row);
extern void ou_order_settle_rows(const Target *target);
extern const OrderPosition *ou_order_find_later_table(const Target *target);
extern const OrderPosition *ou_order_find_highest(const Target *target);
extern bool ou_order_is_below(const Target *target, const Datum *key, const OrderPosition *position);
extern LockStrength ou_order_weakest(const OrderPosition *position);
extern void ou_order_report_table(const Target *target, const OrderPosition *held);
extern void ou_order_report_position(const Target *target, const Datum *wanted,
									 const OrderPosition *held);
extern void ou_order_report_key(const Target *target, const Datum *wanted,
								const Datum *held);
extern void ou_order_report_upgrade(const Target *target, const Datum *key,
									LockStrength held, LockStrength wanted);
extern void ou_order_describe(StringInfo out);

#endif							/* OU_ORDER_CHECK_H */
