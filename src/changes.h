/*-------------------------------------------------------------------------
 *
 * changes.h
 *		The changes of a JSON batch, read into typed rows in key order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_CHANGES_H
#define OU_CHANGES_H

#include "executor/tuptable.h"
#include "storage/itemptr.h"
#include "utils/queryenvironment.h"
#include "utils/tuplestore.h"

#include "keyset.h"
#include "sql_text.h"

typedef struct Changes
{
	MemoryContext context;		/* that of ou_changes_begin */
	const Target *target;
	const BatchShape *shape;
	Keyset	   *keys;			/* one for each row */
	TupleDesc	desc;			/* k1.. of the key, vn.. of the values, fn..
								 * of what a row names, as the reading
								 * statement returns them */
	Tuplestorestate *rows;
	TupleTableSlot *previous;	/* last row added */
	TupleTableSlot *current;	/* row read back */
	int			nread;			/* how many were read back */
	bool		pick_ctids;		/* do picked rows begin with a ctid? */
	int		   *pick_fields;	/* for each other column of picked rows, its
								 * field in desc, from 0 */
	TupleTableSlot *pick;		/* row being picked */
	Tuplestorestate *picked;	/* rows for one run of the change statement */
	int			npicked;
} Changes;

extern void ou_changes_begin(Changes *changes, const Target *target, const BatchShape *shape);
extern void ou_changes_open(Changes *changes, TupleDesc desc);
extern void ou_changes_add(Changes *changes, TupleTableSlot *row);
extern bool ou_changes_next(Changes *changes);
extern Bitmapset *ou_changes_named(const Changes *changes);
extern void ou_changes_begin_picking(Changes *changes, LocateBy locate, const Bitmapset *columns);
extern void ou_changes_pick(Changes *changes, ItemPointer ctid);
extern void ou_changes_end(Changes *changes);
extern void ou_changes_end_picking(Changes *changes);
extern EphemeralNamedRelation ou_changes_all(const Changes *changes);
extern EphemeralNamedRelation ou_changes_picked(const Changes *changes);

#endif							/* OU_CHANGES_H */
