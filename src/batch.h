/*-------------------------------------------------------------------------
 *
 * batch.h
 *		One batch: lock all in order, demand all, change, collect.
 *
 *-------------------------------------------------------------------------
 */
#ifndef OU_BATCH_H
#define OU_BATCH_H

#include "storage/lockdefs.h"
#include "utils/array.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
#include "utils/tuplestore.h"

#include "sql_text.h"

/* What to do about a wanted row that does not exist. */
typedef enum MissingPolicy
{
	MISSING_RAISE,				/* P0002 */
	MISSING_SKIP
} MissingPolicy;

/* Rows of several batches that do not exist. */
typedef struct AbsentRows
{
	int			nrows;
	StringInfoData detail;		/* a sentence for each batch that lacks some */
} AbsentRows;

/* What a caller asks for.  The table is locked already. */
typedef struct Batch
{
	const char *verb;			/* for reports */
	LOCKMODE	held;			/* how the transaction held the table before:
								 * NoLock, RowShareLock or RowExclusiveLock */
	BatchShape	shape;
	ArrayType  *keys;			/* checked by ou_keyset_check_array, or NULL */
	Jsonb	   *changes;		/* read by ou_json_columns_read, or NULL */
	Bitmapset  *nulls;			/* columns that are null in a change */
	Numeric		amount;			/* for CHANGE_INCREMENT */
	MissingPolicy missing;
	AbsentRows *absent;			/* for MISSING_RAISE: where to collect rows
								 * instead of raising, or NULL */
	Tuplestorestate *result;	/* receives a row for each row of the batch,
								 * in key order; unless for RESULT_NONE */
	TupleDesc	resultdesc;
} Batch;

extern int	ou_batch_size(const Batch *batch);
extern int	ou_batch_run(Batch *batch);

#endif							/* OU_BATCH_H */
